import RxLite
import RxTesting
import RxTestingSupport
import Testing

@Suite struct ExpectationTests {
    private let clock = VirtualScheduler()

    @Test func streamsThatFitPass() throws {
        let source: MarbleSource<Int, PortError> = try clock.cold(
            "--a-(bb) 1s #", values: ["a": 1, "b": 2], error: PortError())
        expect(
            source.observable.map { $0 * 10 }, emits: "--a-(bb) 1s #", values: ["a": 10, "b": 20],
            error: PortError(), on: clock)
        let hot: MarbleSource<String, Never> = try clock.hot("-a-b")
        let recorder = Recorder(hot.observable, on: clock)
        try clock.advance(by: .milliseconds(10))
        expect(recorder, emitted: "-a-b")
    }

    private struct PortError: Error, Equatable {}

    /// A stream without an end is left after the time of the diagram.
    @Test func endlessStreams() {
        let beat = Observable<Int, Never>.interval(.milliseconds(2), on: clock)
        expect(beat, emits: "--a-b-", values: ["a": 0, "b": 1], on: clock)
        #expect(clock.pendingCount == 0)
        #expect(clock.now == .milliseconds(6))
    }

    /// The issue shows both diagrams, and stands where the expectation does.
    @Test func issues() throws {
        let source: MarbleSource<String, Never> = try clock.cold("--a--c-|")
        withKnownIssue {
            expect(source.observable, emits: "--a--b-|", on: clock)
        } matching: { issue in
            issue.comments.map(\.rawValue) == [
                """
                the streams differ at 0.005 seconds
                expected  --a--b-|
                actual    --a--c-|
                               ^
                """
            ] && issue.sourceLocation?.line == 35
        }
        withKnownIssue {
            expect(source.observable, emits: "--*", on: clock)
        } matching: { issue in
            issue.comments.first?.rawValue.contains("has no meaning here") == true
        }
    }
}
