import Testing

@testable import RxCurl

@Suite struct TransferStateTests {
    typealias State = TransferState

    /// A transfer whose final head has been delivered.
    static func inBody(isRepeatable: Bool = true, isPaused: Bool = false) -> TransferState {
        var state = TransferState(isRepeatable: isRepeatable)
        #expect(state.willSend() == true)
        #expect(state.receiveStatusLine(status: 200, byteCount: 17) == .skip)
        #expect(state.receiveFieldLine(byteCount: 20) == .keep)
        #expect(state.receiveEndOfHead(byteCount: 2, isPaused: isPaused) == (isPaused ? .skip : .deliver))
        return state
    }

    @Test func aWholeAnswer() {
        var state = Self.inBody()
        #expect(state.receiveChunk(count: 10, isPaused: false) == .deliver(headFirst: false))
        #expect(state.complete(succeeded: true, isPaused: false) == .finish(headFirst: false))
        #expect(state.isOver)
    }

    @Test func nothingAfterTheEnd() {
        var state = Self.inBody()
        #expect(state.complete(succeeded: true, isPaused: false) == .finish(headFirst: false))
        #expect(state.complete(succeeded: false, isPaused: false) == .nothing)
        #expect(state.receiveChunk(count: 1, isPaused: false) == .refuse)
        #expect(state.receiveStatusLine(status: 200, byteCount: 17) == .refuse)
        #expect(state.receiveFieldLine(byteCount: 1) == .refuse)
        #expect(state.receiveEndOfHead(byteCount: 2, isPaused: false) == .refuse)
        #expect(state.resume(isPaused: false) == nil)
        #expect(state.willSend() == false)
        #expect(state.abort() == false)
    }

    // MARK: - Heads

    @Test func informationalHeadsAreDeliveredUpToALimit() {
        var state = TransferState(isRepeatable: true)
        for _ in 0..<100 {
            #expect(state.receiveStatusLine(status: 103, byteCount: 20) == .skip)
            #expect(state.receiveFieldLine(byteCount: 20, keepsLengthCertain: false) == .keep)
            #expect(state.receiveEndOfHead(byteCount: 2, isPaused: false) == .deliverInterim)
            #expect(state.awaitsStatusLine)
        }
        var flooded = state
        #expect(state.receiveStatusLine(status: 204, byteCount: 20) == .skip)
        #expect(state.receiveEndOfHead(byteCount: 2, isPaused: false) == .deliver)
        #expect(flooded.receiveStatusLine(status: 100, byteCount: 20) == .refuse)
        #expect(flooded.refusal == .tooManyInterimHeads)
        #expect(flooded.complete(succeeded: true, isPaused: false) == .fail)
    }

    /// Content that has been sent allows for reports about it, and not for more.
    @Test func reportsOfAServerAreDelivered() {
        var state = TransferState(isRepeatable: true)
        for count in 1...5000 {
            let sent = Int64(count) * 4096
            #expect(state.receiveStatusLine(status: 104, byteCount: 20, sentBytes: sent) == .skip)
            #expect(state.receiveFieldLine(byteCount: 480) == .keep)
            #expect(state.receiveEndOfHead(byteCount: 2, isPaused: false) == .deliverInterim)
        }
        var action = state.receiveStatusLine(status: 104, byteCount: 20, sentBytes: 5000 * 4096)
        for _ in 0..<200 where action == .skip {
            _ = state.receiveEndOfHead(byteCount: 2, isPaused: false)
            action = state.receiveStatusLine(status: 104, byteCount: 20, sentBytes: 5000 * 4096)
        }
        #expect(action == .refuse)
    }

    @Test(
        arguments: [
            (nil, State.Refusal.malformedStatusLine), (99, .malformedStatusLine),
            (1000, .malformedStatusLine),
            (101, .switchedProtocols),
        ] as [(Int?, State.Refusal)])
    func aBadStatusIsRefused(status: Int?, refusal: State.Refusal) {
        var state = TransferState(isRepeatable: true)
        #expect(state.receiveStatusLine(status: status, byteCount: 20) == .refuse)
        #expect(state.refusal == refusal)
    }

    @Test func allHeaderLinesCountTowardsTheLimit() {
        var limits = State.Limits()
        limits.headBytes = 100
        var state = TransferState(isRepeatable: true, limits: limits)
        #expect(state.receiveStatusLine(status: 103, byteCount: 40) == .skip)
        #expect(state.receiveEndOfHead(byteCount: 2, isPaused: false) == .deliverInterim)
        #expect(state.receiveStatusLine(status: 200, byteCount: 40) == .skip)
        #expect(state.receiveFieldLine(byteCount: 16) == .keep)
        #expect(state.receiveEndOfHead(byteCount: 2, isPaused: false) == .deliver)
        // A trailer.
        #expect(state.receiveFieldLine(byteCount: 1) == .refuse)
        #expect(state.refusal == .headTooLarge)
    }

    @Test func trailersComeBeforeTheEnd() {
        var state = Self.inBody()
        #expect(state.receiveFieldLine(byteCount: 10, keepsLengthCertain: false) == .keep)
        #expect(state.receiveEndOfHead(byteCount: 2, isPaused: false) == .skip)
        #expect(state.complete(succeeded: true, isPaused: false) == .wait)
        #expect(state.resume(isPaused: false) == .deliverTrailers)
        #expect(state.resume(isPaused: true) == nil)
        #expect(state.resume(isPaused: false) == .finish)
    }

    @Test func heldInformationalHeadsComeOneByOneBeforeTheHead() {
        var state = TransferState(isRepeatable: true)
        for _ in 0..<2 {
            #expect(state.receiveStatusLine(status: 103, byteCount: 20) == .skip)
            #expect(state.receiveEndOfHead(byteCount: 2, isPaused: true) == .holdInterim)
        }
        #expect(state.receiveStatusLine(status: 200, byteCount: 20) == .skip)
        #expect(state.receiveEndOfHead(byteCount: 2, isPaused: true) == .skip)
        #expect(state.resume(isPaused: false) == .deliverInterim)
        #expect(state.resume(isPaused: true) == nil)
        #expect(state.resume(isPaused: false) == .deliverInterim)
        #expect(state.resume(isPaused: false) == .deliverHead)
        #expect(state.resume(isPaused: false) == nil)
    }

    @Test func anEndWithoutAFinalHeadIsAFailure() {
        var state = TransferState(isRepeatable: true)
        #expect(state.receiveStatusLine(status: 100, byteCount: 20) == .skip)
        #expect(state.receiveEndOfHead(byteCount: 2, isPaused: false) == .deliverInterim)
        #expect(state.complete(succeeded: true, isPaused: false) == .fail)
    }

    // MARK: - Challenges of a proxy

    /// A transfer whose response is a challenge.
    private static func challenged(isPaused: Bool = false) -> TransferState {
        var state = TransferState(isRepeatable: false, awaitsChallenge: true)
        #expect(state.willSend() == true)
        #expect(state.receiveStatusLine(status: 407, byteCount: 17) == .skip)
        #expect(state.isChallenged)
        #expect(state.receiveEndOfHead(byteCount: 2, isPaused: isPaused) == .skip)
        #expect(state.isChallenged)
        #expect(state.resume(isPaused: false) == nil)
        return state
    }

    @Test func aChallengeIsMetAndNotDelivered() {
        var state = Self.challenged()
        // A trailer of a response that is not delivered does not count either.
        #expect(state.receiveFieldLine(byteCount: 10) == .keep)
        #expect(state.willSend() == true)
        #expect(!state.isResent)
        #expect(!state.isChallenged)
        #expect(state.receiveStatusLine(status: 200, byteCount: 17) == .skip)
        #expect(state.receiveEndOfHead(byteCount: 2, isPaused: false) == .deliver)
        #expect(state.complete(succeeded: true, isPaused: false) == .finish(headFirst: false))
    }

    @Test func aChallengeThatIsNotMetIsDelivered() {
        var withChunk = Self.challenged()
        #expect(withChunk.receiveChunk(count: 1, isPaused: false) == .deliver(headFirst: true))
        #expect(!withChunk.isChallenged)
        #expect(withChunk.willSend() == false)
        var withEnd = Self.challenged()
        #expect(withEnd.complete(succeeded: true, isPaused: false) == .finish(headFirst: true))
        var paused = Self.challenged(isPaused: true)
        #expect(paused.receiveChunk(count: 1, isPaused: true) == .wait)
        #expect(paused.resume(isPaused: false) == .deliverHead)
        #expect(paused.resume(isPaused: false) == .unpause)
    }

    @Test func aSecondChallengeIsAResponse() {
        var state = Self.challenged()
        #expect(state.willSend() == true)
        #expect(state.receiveStatusLine(status: 407, byteCount: 17) == .skip)
        #expect(!state.isChallenged)
        #expect(state.receiveEndOfHead(byteCount: 2, isPaused: false) == .deliver)
    }

    // MARK: - Sending

    @Test func aSecondTryForgetsTheInformationalHeadsThatWereHeld() {
        var state = TransferState(isRepeatable: true)
        #expect(state.willSend() == true)
        #expect(state.receiveStatusLine(status: 103, byteCount: 20) == .skip)
        #expect(state.receiveEndOfHead(byteCount: 2, isPaused: true) == .holdInterim)
        #expect(state.willSend() == true)
        #expect(state.resume(isPaused: false) == nil)
    }

    @Test func whatMustNotBeRepeatedIsSentOnce() {
        var once = TransferState(isRepeatable: false)
        #expect(!once.isSent)
        #expect(once.willSend() == true)
        #expect(once.isSent)
        #expect(once.willSend() == false)
        #expect(once.refusal == .repetitionForbidden)
        #expect(once.complete(succeeded: false, isPaused: false) == .fail)

        var again = TransferState(isRepeatable: true)
        #expect(again.willSend() == true)
        #expect(!again.isResent)
        #expect(again.willSend() == true)
        #expect(again.isResent)
    }

    @Test func aSecondTryBeginsWithAStatusLine() {
        var state = TransferState(isRepeatable: true)
        #expect(state.willSend() == true)
        #expect(state.receiveStatusLine(status: 200, byteCount: 17) == .skip)
        #expect(state.willSend() == true)
        #expect(state.awaitsStatusLine)
    }

    @Test func breakingOffHappensOnce() {
        var state = Self.inBody()
        #expect(state.abort() == true)
        #expect(state.abort() == false)
        #expect(state.complete(succeeded: true, isPaused: false) == .nothing)
    }
}
