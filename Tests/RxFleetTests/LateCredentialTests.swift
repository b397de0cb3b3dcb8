#if Fleet
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Testing

@testable import RxFleet

/// A process that is stopped while the server answers, and comes late with its credential.
@Suite struct LateCredentialTests {
    private let fixture = FleetFixture()
    private var clock: VirtualScheduler { fixture.clock }

    /// The recorded events of a stream, 20 ms later.
    private func record<Value: Sendable>(
        _ stream: Observable<Value, NetworkError>
    ) throws -> Recorder<Value, NetworkError> {
        let recorder = Recorder(stream, on: clock)
        try clock.advance(by: .milliseconds(20))
        return recorder
    }

    /// Neither a renewal nor a login that began before another process had saved a newer credential replaces that one, even
    /// if the process has read it in the meantime, and taken the lease again.
    @Test(arguments: [true, false])
    func newerCredentialStays(isRenewal: Bool) throws {
        let (one, two) = (try fixture.member().credential, try fixture.member())
        let late = two.credential
        let (first, second) = (
            Credential(token: "t1", refreshToken: "r1"), Credential(token: "t2", refreshToken: "r2")
        )
        let third = Credential(token: "t3", refreshToken: "r3")
        let lease = try record(late.lease())
        #expect(try record(late.save(first)).isFinished)
        let response = Signal<Credential>()
        let answer = { @Sendable in response.observable.take(1).setFailureType(to: NetworkError.self) }
        let gain = try record(
            isRenewal ? late.renewing(first, by: answer) : late.gaining(by: answer))
        // It is stopped, its lease ends, and another process logs in.
        two.store.isConnected = false
        let other = Recorder(one.lease(), on: clock)
        try clock.advance(by: .seconds(12))
        #expect(other.values.count == 1)
        _ = try record(one.load())
        _ = try record(one.gaining { .just(third) })
        #expect(try record(one.save(third)).isFinished)
        other.cancel()
        // It wakes.
        two.store.isConnected = true
        lease.cancel()
        #expect(try record(late.load()).values == [third])
        let again = try record(late.lease())
        #expect(again.values.count == 1)
        response.send(second)
        try clock.advance(by: .milliseconds(20))
        #expect(gain.values == [second])
        #expect(try record(late.save(second)).failure?.code == .superseded)
        #expect(try record(one.load()).values == [third])
        // What it gets from now on is newer.
        _ = try record(late.gaining { .just(second) })
        #expect(try record(late.save(second)).isFinished)
        #expect(try record(one.load()).values == [second])
        again.cancel()
    }
}
#endif
