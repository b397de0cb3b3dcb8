import RxHTTP
import RxLite
import RxTesting
import Testing

/// When the bytes that arrive are written, in virtual time.
@Suite struct AppendingTests {
    private let clock = VirtualScheduler()
    private let source = Signal<[UInt8]>()

    /// Appends what the source sends to `/f`, whose writes take no time.
    private func append(
        size: Int, interval: Duration
    ) throws -> (MemoryFileSystem, Recorder<Int64, NetworkError>) {
        let files = MemoryFileSystem(on: clock)
        let pace = Appending.Pace(size: size, interval: interval, on: clock)
        let stream = Observable<Int64, NetworkError>(scheduler: clock) { [source] observer in
            Appending(
                source.observable.setFailureType(), to: files.appender(to: "/f", at: 0), pace: pace,
                into: observer
            ).start()
        }
        let recorder = Recorder(stream, on: clock)
        try clock.advance(by: .milliseconds(1))
        return (files, recorder)
    }

    /// The first bytes are written at once. A batch below the size then waits, but not longer than the interval, even if no
    /// more bytes arrive.
    @Test func interval() throws {
        let (files, _) = try append(size: 100, interval: .milliseconds(20))
        source.send([1])
        try clock.advance(by: .milliseconds(1))
        #expect(files["/f"] == [1])
        source.send([2])
        try clock.advance(by: .milliseconds(10))
        source.send([3])
        try clock.advance(by: .milliseconds(8))
        #expect(files["/f"] == [1])
        try clock.advance(by: .milliseconds(2))
        #expect(files["/f"] == [1, 2, 3])
        // After a pause the interval is over already.
        try clock.advance(by: .seconds(1))
        source.send([4])
        try clock.advance(by: .milliseconds(1))
        #expect(files["/f"] == [1, 2, 3, 4])
    }

    /// A batch of the size does not wait.
    @Test func size() throws {
        let (files, recorder) = try append(size: 3, interval: .seconds(9))
        source.send([1])
        try clock.advance(by: .milliseconds(1))
        source.send([2, 3])
        try clock.advance(by: .milliseconds(1))
        #expect(files["/f"] == [1])
        source.send([4])
        try clock.advance(by: .milliseconds(1))
        #expect(files["/f"] == [1, 2, 3, 4])
        #expect(recorder.values.last == 4)
    }
}
