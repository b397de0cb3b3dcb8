import RxHTTP
import RxLite
import RxTesting
import Synchronization
import TestServers
import Testing

@testable import RxTransfers

/// Queues of transfers in virtual time.
@Suite struct TransferQueueTests {
    private struct Job: Codable, Sendable, Equatable {
        var name: String
        var seconds: Int
    }

    /// The starts and the cancels of jobs.
    private final class Log: Sendable {
        let lines = Mutex<[String]>([])

        func add(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    /// A condition of the app besides the status of the network.
    private final class Roaming: Sendable {
        private let state = Mutex(true)

        var isAllowed: Bool { state.withLock { $0 } }
        func set(_ isAllowed: Bool) { state.withLock { $0 = isAllowed } }
    }

    private let clock = VirtualScheduler()
    private let log = Log()

    private func queue(
        limit: Int = 2, files: MemoryFileSystem? = nil, fails: Set<String> = [],
        reachability: ScriptedReachability? = nil,
        allows: @escaping @Sendable (Job, NetworkStatus) -> Bool = { _, status in status.isReachable }
    ) -> TransferQueue<Job> {
        let (clock, log) = (clock, log)
        return TransferQueue(
            on: clock, limit: limit, storedAt: files == nil ? nil : "/d/queue.json", in: files,
            reachability: reachability, allows: allows
        ) { job, _ in
            .deferred(on: clock) {
                log.add("+\(job.name)")
                return Observable<Int, NetworkError>.interval(.seconds(1), on: clock).take(job.seconds)
                    .map { count throws(NetworkError) in
                        if fails.contains(job.name) { throw NetworkError(.connectionLost, "cut") }
                        return TransferRate(bytes: Int64(count + 1) * 10, expected: Int64(job.seconds) * 10)
                    }
                    .handleEvents(onCancel: { log.add("-\(job.name)") })
            }
        }
    }

    private func states(_ queue: TransferQueue<Job>) -> [String] {
        queue.items.value.map { item in
            switch item.state {
            case .waiting: "\(item.job.name) waiting"
            case .running: "\(item.job.name) running"
            case .paused: "\(item.job.name) paused"
            case .finished: "\(item.job.name) finished"
            case .failed(let error): "\(item.job.name) \(error.code)"
            }
        }
    }

    /// As many run as the limit says, in their order.
    @Test func orderAndLimit() throws {
        let queue = queue()
        for name in ["a", "b", "c"] { queue.add(Job(name: name, seconds: 2)) }
        try clock.advance(by: .seconds(1))
        #expect(states(queue) == ["a running", "b running", "c waiting"])
        try clock.advance(by: .seconds(1))
        #expect(states(queue) == ["a finished", "b finished", "c running"])
        try clock.run()
        #expect(log.all == ["+a", "+b", "+c"])
        #expect(queue.progress.value.bytes == 60)
        #expect(queue.progress.value.expected == 60)
    }

    /// A transfer that ends while it is paused and resumed, which is then done anew.
    @Test func aLateEndIsNotThatOfTheNextRun() throws {
        let runs = Board<[Emitter<TransferRate, NetworkError>]>([])
        let meanwhile = Board<(@Sendable () -> Void)?>(nil)
        let queue = TransferQueue<Job>(
            on: clock, limit: 1, storedAt: nil, in: nil, reachability: nil,
            allows: { _, _ in
                // Inside the queue, so that all of it happens in this order, after the queue's present work.
                meanwhile.update { $0.take() }?()
                return true
            }
        ) { _, _ in .create { emitter in runs.update { $0.append(emitter) } } }
        queue.add(Job(name: "a", seconds: 1))
        try clock.run()
        let id = try #require(queue.items.value.first?.id)
        meanwhile.update {
            $0 = {
                queue.pause(id)
                queue.resume(id)
                runs.contents[0].finish()
            }
        }
        queue.reconsider()
        try clock.run()
        #expect(runs.contents.count == 2)
        #expect(states(queue) == ["a running"])
        runs.contents[1].finish()
        try clock.run()
        #expect(states(queue) == ["a finished"])
    }

    /// Without a network nothing runs; large transfers wait for another one than the mobile one.
    @Test func networks() throws {
        let reachability = ScriptedReachability(.unreachable)
        let mayRoam = Roaming()
        let queue = queue(reachability: reachability) { job, status in
            status.isReachable && (status != .cellular || job.seconds < 3) && mayRoam.isAllowed
        }
        queue.add(Job(name: "large", seconds: 3))
        queue.add(Job(name: "small", seconds: 2))
        try clock.advance(by: .seconds(1))
        #expect(states(queue) == ["large waiting", "small waiting"])
        reachability.set(.cellular)
        try clock.advance(by: .milliseconds(500))
        #expect(states(queue) == ["large waiting", "small running"])
        reachability.set(.wifi)
        try clock.advance(by: .milliseconds(500))
        #expect(states(queue) == ["large running", "small running"])
        reachability.set(.unreachable)
        try clock.advance(by: .seconds(9))
        #expect(states(queue) == ["large waiting", "small waiting"])
        mayRoam.set(false)
        reachability.set(.wired)
        queue.reconsider()
        try clock.advance(by: .seconds(9))
        #expect(states(queue) == ["large waiting", "small waiting"])
        mayRoam.set(true)
        queue.reconsider()
        try clock.run()
        #expect(states(queue) == ["large finished", "small finished"])
        #expect(log.all == ["+small", "+large", "-large", "-small", "+large", "+small"])
    }

    /// A limit within another one: neither is exceeded, and both may change.
    @Test func nestedBandwidth() {
        let whole = TransferBandwidth(bytesPerSecond: 1000)
        let (one, other) = (
            TransferBandwidth(bytesPerSecond: 800, within: whole), TransferBandwidth(within: whole)
        )
        // A tenth of a second's worth is free.
        #expect(one.take(80, at: .zero) == .zero)
        #expect(one.take(80, at: .zero) == .milliseconds(100))
        #expect(other.take(40, at: .zero) == .milliseconds(100))
        whole.bytesPerSecond = nil
        #expect(other.take(4000, at: .zero) == .zero)
    }

    /// A more urgent transfer interrupts a less urgent one, which goes on later.
    @Test func priorities() throws {
        let queue = queue(limit: 1)
        queue.add(Job(name: "a", seconds: 3), priority: .low)
        try clock.advance(by: .seconds(1))
        queue.add(Job(name: "b", seconds: 1))
        queue.add(Job(name: "c", seconds: 1), priority: .high)
        try clock.run()
        #expect(log.all == ["+a", "-a", "+b", "-b", "+c", "+b", "+a"])
        #expect(states(queue) == ["a finished", "b finished", "c finished"])
    }

    /// Pausing one and all, resuming, moving and removing.
    @Test func control() throws {
        let queue = queue(limit: 1)
        for name in ["a", "b", "c"] { queue.add(Job(name: name, seconds: 2)) }
        try clock.advance(by: .milliseconds(500))
        let ids = queue.items.value.map(\.id)
        queue.move(ids[2], before: ids[1])
        queue.pause(ids[0])
        try clock.advance(by: .milliseconds(500))
        #expect(states(queue) == ["a paused", "c running", "b waiting"])
        queue.pauseAll()
        try clock.advance(by: .seconds(10))
        #expect(states(queue) == ["a paused", "c waiting", "b waiting"])
        queue.resumeAll()
        queue.remove(ids[1])
        queue.resume(ids[0])
        try clock.run()
        #expect(states(queue) == ["a finished", "c finished"])
        #expect(log.all == ["+a", "-a", "+c", "-c", "+c", "+a"])
    }

    /// A failure stays until it is resumed.
    @Test func failures() throws {
        let queue = queue(fails: ["a"])
        queue.add(Job(name: "a", seconds: 1))
        queue.add(Job(name: "b", seconds: 1))
        try clock.run()
        #expect(states(queue) == ["a connectionLost", "b finished"])
        queue.resume(queue.items.value[0].id)
        try clock.run()
        #expect(log.all == ["+a", "+b", "+a"])
    }

    /// Another queue has what the first one has left.
    @Test func persistence() throws {
        let files = MemoryFileSystem(on: clock)
        var first: TransferQueue<Job>? = queue(limit: 1, files: files)
        let added = Recorder(first!.add(Job(name: "a", seconds: 1)), on: clock)
        first?.add(Job(name: "b", seconds: 100), priority: .high)
        first?.add(Job(name: "c", seconds: 100))
        try clock.advance(by: .seconds(1))
        #expect(added.values == [1])
        first?.pause(3)
        try clock.advance(by: .seconds(1))
        first = nil
        let second = queue(limit: 1, files: files)
        try clock.advance(by: .seconds(1))
        #expect(states(second) == ["a waiting", "b running", "c paused"])
        #expect(second.items.value.map(\.id) == [1, 2, 3])
        #expect(second.items.value.map(\.priority) == [.normal, .high, .normal])
    }

    /// The identifier of a transfer that is finished, and not in the file any more, is not given to another one.
    @Test func identifiersAfterRestart() throws {
        let files = MemoryFileSystem(on: clock)
        var first: TransferQueue<Job>? = queue(files: files)
        first?.add(Job(name: "a", seconds: 1))
        try clock.advance(by: .seconds(2))
        #expect(first.map(states) == ["a finished"])
        first = nil
        let second = queue(files: files)
        let added = Recorder(second.add(Job(name: "b", seconds: 1)), on: clock)
        try clock.run()
        #expect(added.values == [2])
        #expect(files.paths == ["/d/queue.json"])
    }

    /// A file of an older release, without the next identifier.
    @Test func fileOfOlderRelease() throws {
        let files = MemoryFileSystem(on: clock)
        files["/d/queue.json"] = Array(
            #"[{"id":4,"isPaused":true,"job":{"name":"a","seconds":1},"priority":1}]"#.utf8)
        let queue = queue(files: files)
        let added = Recorder(queue.add(Job(name: "b", seconds: 1)), on: clock)
        try clock.run()
        #expect(states(queue) == ["a paused", "b finished"])
        #expect(added.values == [5])
        #expect(files.paths == ["/d/queue.json"])
    }

    /// The files of a folder are in the queue together, and in its file before they are reported.
    @Test func folder() throws {
        let files = MemoryFileSystem(on: clock)
        var first: TransferQueue<Job>? = queue(limit: 2, files: files)
        let jobs = (0..<100).map { Job(name: "\($0)", seconds: 100) }
        let added = Recorder(first!.add(contentsOf: jobs, priority: .low), on: clock)
        let none = Recorder(first!.add(contentsOf: []), on: clock)
        try clock.advance(by: .seconds(1))
        #expect(added.values == [Array(1...100)] && none.values == [[]])
        #expect(log.all == ["+0", "+1"])
        first = nil
        let second = queue(limit: 0, files: files)
        try clock.advance(by: .seconds(1))
        #expect(second.items.value.map(\.job) == jobs)
        #expect(second.items.value.allSatisfy { $0.priority == .low })

        files.fail(.replace, of: "/d/queue.json", "full")
        let lost = Recorder(second.add(contentsOf: jobs), on: clock)
        try clock.advance(by: .seconds(1))
        #expect(lost.values.isEmpty && lost.failure?.code == .file)
        // Nothing has changed since, and the former change is written again.
        let later = Recorder(second.add(contentsOf: []), on: clock)
        try clock.advance(by: .seconds(1))
        #expect(later.values == [[]])
    }

    /// A write that fails does not hold up what was added meanwhile.
    @Test func failedWrite() throws {
        let files = MemoryFileSystem(on: clock, latency: .milliseconds(10))
        let queue = queue(files: files)
        try clock.advance(by: .seconds(1))
        files.fail(.replace, of: "/d/queue.json", "full")
        let first = Recorder(queue.add(Job(name: "a", seconds: 100)), on: clock)
        let second = Recorder(queue.add(Job(name: "b", seconds: 100)), on: clock)
        try clock.advance(by: .seconds(1))
        #expect(first.failure?.code == .file)
        #expect(second.values == [2])
    }

    /// A job that cannot be decoded does not take others with it, and stays in a file beside the queue's.
    @Test func unreadableJob() throws {
        let files = MemoryFileSystem(on: clock)
        let jobs = [#"{"name":"a","seconds":1}"#, #"{"title":"b"}"#]
        let items = jobs.enumerated().map { index, job in
            #"{"id":\#(index + 1),"isPaused":false,"job":\#(job),"priority":1}"#
        }
        let content = Array("[\(items.joined(separator: ","))]".utf8)
        files["/d/queue.json"] = content
        let first = queue(limit: 0, files: files)
        first.add(Job(name: "c", seconds: 1))
        try clock.advance(by: .seconds(1))
        #expect(states(first) == ["a waiting", "c waiting"])
        #expect(files["/d/queue.json.unreadable"] == content)
        let second = queue(limit: 0, files: files)
        try clock.advance(by: .seconds(1))
        #expect(states(second) == ["a waiting", "c waiting"])
        #expect(files["/d/queue.json.unreadable"] == content)
    }

    /// A transfer whose identifier leaves no room for further ones counts as unreadable.
    @Test func damagedIdentifier() throws {
        let files = MemoryFileSystem(on: clock)
        let content = Array(
            #"[{"id":\#(Int.max),"isPaused":false,"job":{"name":"a","seconds":1},"priority":1}]"#.utf8)
        files["/d/queue.json"] = content
        let queue = queue(limit: 0, files: files)
        queue.add(Job(name: "b", seconds: 1))
        try clock.advance(by: .seconds(1))
        #expect(states(queue) == ["b waiting"])
        #expect(files["/d/queue.json.unreadable"] == content)
    }

    /// A file that cannot be read is not replaced, and adding tells why.
    @Test func unreadableFile() throws {
        let files = MemoryFileSystem(on: clock)
        let content = Array("[]".utf8)
        files["/d/queue.json"] = content
        files.fail(.read, of: "/d/queue.json")
        let queue = queue(files: files)
        let added = Recorder(queue.add(Job(name: "a", seconds: 1)), on: clock)
        try clock.run()
        #expect(added.failure?.code == .file)
        #expect(files["/d/queue.json"] == content)
        #expect(states(queue) == ["a finished"])
    }

    /// A path without a file system: adding tells that nothing is stored, and the transfers run all the same.
    @Test func pathWithoutFiles() throws {
        let queue = TransferQueue<Job>(on: clock, storedAt: "/d/queue.json") { _, _ in .empty() }
        let added = Recorder(queue.add(Job(name: "a", seconds: 1)), on: clock)
        try clock.run()
        #expect(added.failure?.code == .file)
        #expect(states(queue) == ["a finished"])
    }

    /// A large chunk is passed on in slices, and a new limit reaches a wait that runs.
    @Test func changedBandwidth() throws {
        let bandwidth = TransferBandwidth(bytesPerSecond: 1)
        let chunks = Observable<[UInt8], NetworkError>.just([UInt8](repeating: 0, count: 512 << 10))
        let recorder = Recorder(
            Observable(scheduler: clock) { chunks.subscribe($0) }.limited(by: bandwidth, on: clock), on: clock
        )
        try clock.advance(by: .seconds(5))
        #expect(recorder.values.map(\.count) == [1024])
        bandwidth.bytesPerSecond = 10_000
        try clock.advance(by: .seconds(5))
        let bytes = recorder.values.reduce(0) { $0 + $1.count }
        #expect((30_000...60_000).contains(bytes))
        bandwidth.bytesPerSecond = nil
        try clock.advance(by: .seconds(1))
        #expect(recorder.isFinished)
        #expect(recorder.values.reduce(0) { $0 + $1.count } == 512 << 10)
    }

    /// A bandwidth that two streams share.
    @Test func bandwidth() throws {
        let bandwidth = TransferBandwidth(bytesPerSecond: 1000)
        let chunks = Observable<[UInt8], NetworkError>.sequence(
            (0..<50).map { _ in [UInt8](repeating: 0, count: 100) })
        let one = Recorder(
            Observable(scheduler: clock) { chunks.subscribe($0) }.limited(by: bandwidth, on: clock), on: clock
        )
        let other = Recorder(
            Observable(scheduler: clock) { chunks.subscribe($0) }.limited(by: bandwidth, on: clock), on: clock
        )
        try clock.advance(by: .seconds(5))
        let bytes = (one.values + other.values).reduce(0) { $0 + $1.count }
        #expect(bytes <= 5300)
        #expect(bytes >= 4700)
        bandwidth.bytesPerSecond = nil
        try clock.run()
        #expect(one.isFinished && other.isFinished)
    }

    /// A total that is too large for a number is not known.
    @Test func hugeTotals() {
        var plan = QueuePlan<Job>(limit: 2)
        for _ in 0..<2 {
            let id = plan.add(Job(name: "a", seconds: 1), .normal)
            plan.change(id) { $0.progress = TransferRate(bytes: .max, expected: .max) }
        }
        let total = plan.total
        #expect(total.bytes == .max)
        #expect(total.expected == nil)
    }

    /// The rate is that of the last seconds, and gives the time that is left.
    @Test func rates() {
        var meter = RateMeter()
        #expect(meter.report(0, of: 1000, at: .zero)?.bytesPerSecond == nil)
        #expect(meter.report(10, of: 1000, at: .milliseconds(10)) == nil)
        for second in 1...20 { _ = meter.report(Int64(second) * 10, of: 1000, at: .seconds(second)) }
        let rate = meter.report(210, of: 1000, at: .seconds(21))
        #expect(rate?.bytesPerSecond == 10)
        #expect(rate?.timeLeft == .seconds(79))
        #expect(TransferRate(bytes: 5, expected: 10).timeLeft == nil)
        #expect(TransferRate(bytes: 10, expected: 10, bytesPerSecond: 0).timeLeft == .zero)
        #expect(TransferRate(bytes: 0, expected: .max, bytesPerSecond: 1e-9).timeLeft == nil)
    }
}
