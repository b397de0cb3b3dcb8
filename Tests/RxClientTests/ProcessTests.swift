import Dispatch
import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import Synchronization
import Testing

@testable import RxClient

@Suite struct ProcessTests {
    private static func response(_ size: Int) -> Response {
        Response(
            head: ResponseHead(status: .ok), body: [UInt8](repeating: 0x20, count: size),
            request: Request(url: URL(filePath: "/")))
    }

    private static let large = Response.inPlaceLimit + 1

    /// Large responses are processed elsewhere, and all keep their order.
    @Test(arguments: [
        [1, large, 2, 3, large + 1, large + 2, 4], [large], [large, 5], [5, large], [], [1, 2, 3],
    ])
    func order(sizes: [Int]) async throws {
        // One source that can be paused and one that cannot.
        let patient = Observable<Response, NetworkError>.sequence(sizes.map(Self.response))
        let pushing = Observable<Response, NetworkError> { observer in
            for size in sizes { observer.next(Self.response(size)) }
            observer.finish()
        }
        for source in [patient, pushing] {
            let counts = try await source.process { $0.body.count }.collect().value()
            #expect(counts == sizes)
        }
    }

    /// The source is paused while a large response is processed, and then resumed.
    @Test func pauses() async throws {
        let source = Observable<Response, NetworkError> { observer in
            observer.next(Self.response(Self.large))
            #expect(observer.scope.isPaused)
            observer.scope.onResume {
                observer.next(Self.response(7))
                observer.finish()
            }
        }
        let counts = try await source.process { $0.body.count }.collect().value()
        #expect(counts == [Self.large, 7])
    }

    /// A large response delays no clock of the library, and is processed without the receiver's context.
    @Test func elsewhere() async throws {
        let hasTicked = Mutex(false)
        let names = try await Self.$name.withValue("receiver") {
            try await Observable<Response, NetworkError>.just(Self.response(Self.large)).process { _ in
                _ = ActorScheduler.shared.schedule(after: .milliseconds(1)) {
                    hasTicked.withLock { $0 = true }
                }
                var tries = 0
                while !hasTicked.withLock({ $0 }), tries < 1_000_000_000 { tries += 1 }
                return Self.name
            }
            .collect().value()
        }
        #expect(hasTicked.withLock { $0 })
        #expect(names == ["nobody"])
    }

    @TaskLocal private static var name = "nobody"

    /// An error ends it, thrown here or elsewhere.
    @Test(arguments: [[1, 2], [large, 2], [1, large, 2]])
    func errors(sizes: [Int]) async {
        let source = Observable<Response, NetworkError>.sequence(sizes.map(Self.response))
        let failing = sizes.max() ?? 0
        let error = await #expect(throws: NetworkError.self) {
            _ = try await source.process { response throws(NetworkError) -> Int in
                guard response.body.count < failing else { throw NetworkError(.noContent, "too much") }
                return response.body.count
            }
            .collect().value()
        }
        #expect(error?.code == .noContent)
    }

    /// An error of the source does not wait for a large response.
    @Test func sourceFails() async {
        let source = Observable<Response, NetworkError> { observer in
            observer.next(Self.response(Self.large))
            observer.fail(NetworkError(.partialBody, "broken"))
        }
        let error = await #expect(throws: NetworkError.self) {
            _ = try await source.process { $0.body.count }.collect().value()
        }
        #expect(error?.code == .partialBody)
    }

    /// A response that has been processed while the subscriber was paused waits.
    @Test func pausedSubscriber() async {
        let (place, pause) = (HandScheduler(), DispatchSemaphore(value: 0))
        let counts = Mutex<[Int]>([])
        let subscription = Observable<Response, NetworkError>.just(Self.response(Self.large))
            .process { response in
                pause.wait()
                return response.body.count
            }
            .subscribe(on: place)
            .subscribe(onNext: { count in counts.withLock { $0.append(count) } })
        place.run()
        subscription.pause()
        place.run()
        pause.signal()
        while !place.hasWork { await Task.yield() }
        place.run()
        #expect(counts.withLock { $0 } == [])
        subscription.resume()
        place.run()
        #expect(counts.withLock { $0 } == [Self.large])
        #expect(!subscription.isActive)
    }
}

/// A scheduler whose work runs when the test says so.
final class HandScheduler: Scheduler {
    private let works = Mutex<[@Sendable () -> Void]>([])
    private let isRunning = Mutex(false)

    var now: Duration { .zero }
    var isCurrent: Bool { isRunning.withLock { $0 } }
    var hasWork: Bool { works.withLock { !$0.isEmpty } }

    func schedule(_ work: @escaping @Sendable () -> Void) { works.withLock { $0.append(work) } }

    func schedule(after _: Duration, _ work: @escaping @Sendable () -> Void) -> any Cancellable {
        Issue.record("nothing here has a timer")
        return SubscriptionBag()
    }

    func run() {
        isRunning.withLock { $0 = true }
        while let work = works.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { work() }
        isRunning.withLock { $0 = false }
    }
}
