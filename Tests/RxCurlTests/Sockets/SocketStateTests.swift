import RxLoop
import Testing

@testable import RxCurl

@Suite struct SocketStateTests {
    typealias State = SocketState

    /// A socket on which a transfer has ended, and from which curl reads.
    private static func kept(isShared: Bool = false) -> SocketState {
        var state = SocketState.opened(isAwaited: false)
        #expect(state.want(.readable) == .report(.readable))
        #expect(state.keep(isShared: isShared) == .nothing)
        return state
    }

    /// A socket that curl wants to write to.
    private static func writing(_ events: Poll.Events) -> SocketState {
        var state = SocketState.opened(isAwaited: false)
        #expect(state.want(events) == .report(events))
        return state
    }

    // MARK: - Events from curl

    @Test func whatCurlWantsIsReported() {
        var state = SocketState.opened(isAwaited: false)
        #expect(state.polled == nil)
        #expect(state.want(.writable) == .report(.writable))
        #expect(state.want(.writable) == .nothing)
        #expect(state.want([.readable, .writable]) == .report([.readable, .writable]))
        #expect(state.polled == [.readable, .writable])
        #expect(state.receive(.writable, isFailed: false) == .tell(.writable))
        #expect(state.polled == [.readable, .writable])
    }

    @Test(arguments: [SocketState(), .opened(isAwaited: false), .opened(isAwaited: true)])
    func aPollIsClosedWhereNobodySaysWhenTheSocketIs(state: SocketState) {
        var state = state
        _ = state.want(.readable)
        #expect(state.wantNothing() == .close)
        #expect(state.polled == nil)
        #expect(state.want(.readable) == .report(.readable))
    }

    @Test func withoutAPollNothingIsReported() {
        var state = SocketState.opened(isAwaited: false)
        #expect(state.want(.readable) == .report(.readable))
        state.cannotPoll()
        #expect(state.restart() == .nothing)
        #expect(state.want(.readable) == .report(.readable))
    }

    // MARK: - Idle connections

    @Test func thePollOfAnIdleConnectionStays() {
        var state = Self.kept()
        #expect(state.wantNothing() == .nothing)
        #expect(state.polled == .readable)
        #expect(state.want(.readable) == .nothing)
    }

    @Test func aConnectionIsWatchedFromItsFirstEndOn() {
        var state = SocketState.opened(isAwaited: true)
        _ = state.want(.readable)
        _ = state.wantNothing()
        #expect(state.keep(isShared: false) == .report(.readable))
        #expect(state.wanted.isEmpty)
        #expect(state.keep(isShared: false) == .nothing)
    }

    @Test func whatCurlOpenedAloneIsNotKept() {
        var state = SocketState()
        _ = state.want(.readable)
        #expect(state.keep(isShared: false) == .nothing)
        #expect(state.stage == .foreign)
        #expect(state.wantNothing() == .close)
    }

    @Test(arguments: [false, true])
    func whatComesUnaskedOnAnIdleConnectionStopsThePoll(isShared: Bool) {
        var state = Self.kept(isShared: isShared)
        _ = state.wantNothing()
        // Over HTTP/2 a server may send at any time.
        #expect(state.receive(.readable, isFailed: false) == .stop(isUnasked: !isShared))
        #expect(state.polled == [])
        #expect(state.want(.readable) == .report(.readable))
        #expect(state.receive(.readable, isFailed: false) == .tell(.readable))
    }

    @Test func beforeTheFirstEndNothingIsUnasked() {
        var state = SocketState.opened(isAwaited: false)
        _ = state.want(.readable)
        _ = state.want([])
        #expect(state.receive(.readable, isFailed: false) == .stop(isUnasked: false))
    }

    // MARK: - Failures of polling

    @Test func whenPollingFailsCurlLooksEverywhereAndThePollBeginsAnew() {
        var state = Self.writing([.readable, .writable])
        #expect(state.receive([], isFailed: true) == .tell([.readable, .writable]))
        #expect(state.polled == [])
        #expect(state.restart() == .report([.readable, .writable]))
        #expect(state.restart() == .nothing)
    }

    @Test func afterAFailureNothingIsWatchedThatCurlLetGoOf() {
        var state = Self.kept()
        #expect(state.receive([], isFailed: true) == .tell(.readable))
        #expect(state.wantNothing() == .nothing)
        #expect(state.restart() == .nothing)
        #expect(state.polled == [])
    }

    @Test func whatCurlHasAskedForSinceIsNotAskedForAgain() {
        var state = Self.writing(.writable)
        _ = state.receive([], isFailed: true)
        #expect(state.want(.readable) == .report(.readable))
        #expect(state.restart() == .nothing)
    }

    // MARK: - Idle writes

    /// Records idle writes up to the last one that changes nothing.
    private static func exhaust(_ state: inout SocketState) {
        for _ in 1..<State.patience { #expect(state.recordWrite(isIdle: true) == .nothing) }
    }

    @Test func aSocketThatIsWritableForNothingIsMuted() {
        var state = Self.writing([.readable, .writable])
        Self.exhaust(&state)
        #expect(state.recordWrite(isIdle: true) == .mute(.report(.readable)))
        #expect(state.wanted == [.readable, .writable])
        // They are not counted while the socket is muted.
        #expect(state.recordWrite(isIdle: true) == .nothing)
        #expect(state.receive(.readable, isFailed: false) == .tell(.readable))
        #expect(state.unmute() == .report([.readable, .writable]))
        Self.exhaust(&state)
        #expect(state.recordWrite(isIdle: true) == .mute(.report(.readable)))
    }

    @Test func whereOnlyRoomIsWantedNothingIsReportedWhileMuted() {
        var state = Self.writing(.writable)
        Self.exhaust(&state)
        #expect(state.recordWrite(isIdle: true) == .mute(.stop))
        #expect(state.polled == [])
        #expect(state.unmute() == .report(.writable))
    }

    @Test func contentBeginsTheCountAnew() {
        var state = Self.writing(.writable)
        Self.exhaust(&state)
        #expect(state.recordWrite(isIdle: false) == .nothing)
        Self.exhaust(&state)
        #expect(state.recordWrite(isIdle: true) == .mute(.stop))
    }

    @Test func whatCurlWantsBeginsTheCountAnew() {
        var state = Self.writing(.writable)
        Self.exhaust(&state)
        #expect(state.want(.writable) == .nothing)
        Self.exhaust(&state)
        #expect(state.recordWrite(isIdle: true) == .mute(.stop))
    }

    @Test func whatCurlLetGoOfIsNotUnmuted() {
        var state = Self.writing([.readable, .writable])
        _ = state.keep(isShared: true)
        Self.exhaust(&state)
        #expect(state.recordWrite(isIdle: true) == .mute(.report(.readable)))
        #expect(state.wantNothing() == .nothing)
        #expect(state.unmute() == .nothing)
        #expect(state.polled == .readable)
    }

    // MARK: - Refused connections

    @Test func aTransferIsToldOnceThatThereIsNoConnection() {
        var state = SocketState.opened(isAwaited: true)
        #expect(state.stage == .connecting)
        #expect(state.giveUpConnecting() == true)
        #expect(state.giveUpConnecting() == false)
        #expect(state.stage == .opened)
    }

    @Test func aConnectionThatWasUsedWasNotRefused() {
        var state = SocketState.opened(isAwaited: true)
        _ = state.want(.readable)
        _ = state.keep(isShared: false)
        #expect(state.giveUpConnecting() == false)
        #expect(state.stage == .kept(isShared: false))
    }

    @Test func nobodyIsToldWhereNobodyWaits() {
        var state = SocketState.opened(isAwaited: false)
        #expect(state.giveUpConnecting() == false)
    }
}
