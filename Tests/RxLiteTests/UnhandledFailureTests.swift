import RxLite
import Testing

/// A failure without an `onFailure` is reported once, with the place of the subscription.
@Suite(.serialized) struct UnhandledFailureTests {
    private actor Place {}
    private struct Ending: CancellationReporting {
        let isCancellation: Bool
        static let taskCancelled = Ending(isCancellation: true)
    }

    private let failing = Observable<Int, Lost>.concat([.just(1), .fail(Lost())])

    /// The failures reported for the subscriptions that `body` makes in this file. Tests of others run meanwhile.
    private func reports(of body: (Log<UnhandledFailure>) async -> Void) async -> [UnhandledFailure] {
        let (log, others) = (Log<UnhandledFailure>(), UnhandledFailure.handler)
        UnhandledFailure.handler = { failure in
            if failure.fileID == #fileID { log.add(failure) } else { others(failure) }
        }
        defer { UnhandledFailure.handler = others }
        await body(log)
        return log.entries
    }

    @Test func eachSubscriptionReportsOnce() async {
        let first: UInt = #line + 2
        let reports = await reports { _ in
            failing.subscribe { _ in }
            failing.subscribe()
            failing.subscribe(onFinish: {})
        }
        #expect(reports.map(\.line) == [first, first + 1, first + 2])
        #expect(reports.allSatisfy { $0.error as? Lost == Lost() && $0.stream == "Observable<Int, Lost>" })
        #expect(
            reports.first?.description == """
                RxLiteTests/UnhandledFailureTests.swift:\(first): Observable<Int, Lost> failed, and its subscription \
                has no 'onFailure': lost
                """)
    }

    @Test func subscriptionsOnActorsReport() async {
        let first: UInt = #line + 2
        let reports = await reports { log in
            failing.subscribe(isolatedTo: MainActor.self, onNext: { _ in })
            await until { log.entries.count == 1 }
            failing.subscribe(isolatedTo: Place(), onNext: { _, _ in })
            await until { log.entries.count == 2 }
        }
        #expect(reports.map(\.line) == [first, first + 2])
    }

    @Test func aHandledFailureIsNotReported() async {
        let (ends, place) = (Log<String>(), Place())
        let reports = await reports { _ in
            failing.subscribe(onFailure: { _ in ends.add("failure") })
            failing.subscribe(onNext: { _ in }, onEnd: { _ in ends.add("end") })
            failing.replaceError(with: 2).subscribe { ends.add("\($0)") }
            failing.subscribe(
                isolatedTo: MainActor.self, onNext: { _ in }, onFailure: { _ in ends.add("main") })
            await until { ends.entries.count == 5 }
            failing.subscribe(
                isolatedTo: place, onNext: { _, _ in }, onFailure: { _, _ in ends.add("actor") })
            await until { ends.entries.count == 6 }
        }
        #expect(ends.entries == ["failure", "end", "1", "2", "main", "actor"])
        #expect(reports.isEmpty)
    }

    @Test func aCancellationIsNotReported() async {
        let reports = await reports { _ in
            Observable<Int, Ending>.fail(Ending(isCancellation: true)).subscribe()
            Observable<Int, any Error>.fail(CancellationError()).subscribe()
            Observable<Int, Ending>.fail(Ending(isCancellation: false)).subscribe()
        }
        #expect(reports.map { ($0.error as? Ending)?.isCancellation } == [false])
    }
}
