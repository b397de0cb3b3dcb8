import RxLite
import Testing

/// An error that is a cancellation ends a stream without a callback of `subscribe`.
@Suite struct CancellationReportingTests {
    private struct Ending: CancellationReporting, Equatable {
        var isCancellation: Bool
        static var taskCancelled: Ending { Ending(isCancellation: true) }
    }

    private let log = Log<String>()

    private func stream(_ isCancellation: Bool) -> Observable<Int, Ending> {
        .concat([.just(1), .fail(Ending(isCancellation: isCancellation))])
    }

    @Test(arguments: [true, false]) func callbacks(_ isCancellation: Bool) {
        let subscription = stream(isCancellation).subscribe(
            onNext: { [log] in log.add("\($0)") }, onFailure: { [log] _ in log.add("failure") },
            onFinish: { [log] in log.add("finish") })
        stream(isCancellation).subscribe(
            onNext: { [log] in log.add("\($0)") }, onEnd: { [log] _ in log.add("end") })
        #expect(log.entries == (isCancellation ? ["1", "1"] : ["1", "failure", "1", "end"]))
        #expect(!subscription.isActive)
    }

    @Test(arguments: [true, false]) @MainActor func callbacksOnTheMainActor(_ isCancellation: Bool) async {
        let subscription = stream(isCancellation).subscribe(
            isolatedTo: MainActor.self, onNext: { [log] in log.add("\($0)") },
            onFailure: { [log] _ in log.add("failure") }, onFinish: { [log] in log.add("finish") })
        await until { !subscription.isActive }
        #expect(log.entries == (isCancellation ? ["1"] : ["1", "failure"]))
    }

    @Test(arguments: [true, false]) func callbacksOnAnActor(_ isCancellation: Bool) async {
        actor Place {}
        let subscription = stream(isCancellation).subscribe(
            isolatedTo: Place(), onNext: { [log] in log.add("\($1)") },
            onFailure: { [log] _, _ in log.add("failure") }, onFinish: { [log] _ in log.add("finish") })
        await until { !subscription.isActive }
        #expect(log.entries == (isCancellation ? ["1"] : ["1", "failure"]))
    }

    /// Also if the stream's failure is `any Error`.
    @Test func anyError() {
        stream(true).mapError { $0 as any Error }.subscribe(onFailure: { [log] _ in log.add("failure") })
        #expect(log.entries.isEmpty)
    }

    @Test func operatorsAndAwaitSeeIt() async {
        stream(true).asResult().subscribe { [log] result in log.add("\((try? result.get()) ?? 0)") }
        #expect(log.entries == ["1", "0"])
        await #expect(throws: Ending(isCancellation: true)) { _ = try await stream(true).collect().value() }
    }
}
