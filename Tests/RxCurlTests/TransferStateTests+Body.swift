import Testing

@testable import RxCurl

/// Chunks: pausing, the backlog and coded bodies.
extension TransferStateTests {
    // MARK: - Pausing

    @Test func aPausedConsumerGetsNothingAndThenEverythingInOrder() {
        var state = Self.inBody(isPaused: true)
        #expect(state.receiveChunk(count: 10, isPaused: true) == .wait)
        #expect(state.resume(isPaused: true) == nil)
        #expect(state.resume(isPaused: false) == .deliverHead)
        #expect(state.resume(isPaused: true) == nil)
        #expect(state.resume(isPaused: false) == .unpause)
        #expect(state.resume(isPaused: false) == nil)
        #expect(state.receiveChunk(count: 10, isPaused: false) == .deliver(headFirst: false))
        #expect(state.complete(succeeded: true, isPaused: true) == .wait)
        #expect(state.complete(succeeded: true, isPaused: false) == .nothing)
        #expect(state.resume(isPaused: false) == .finish)
        #expect(state.resume(isPaused: false) == nil)
    }

    @Test func aHeldHeadComesWithWhateverComesFirst() {
        var withChunk = Self.inBody(isPaused: true)
        #expect(withChunk.receiveChunk(count: 1, isPaused: false) == .deliver(headFirst: true))
        #expect(withChunk.receiveChunk(count: 1, isPaused: false) == .deliver(headFirst: false))
        var withEnd = Self.inBody(isPaused: true)
        #expect(withEnd.complete(succeeded: true, isPaused: false) == .finish(headFirst: true))
    }

    @Test func aHeldHeadComesBeforeAHeldEnd() {
        var state = Self.inBody(isPaused: true)
        #expect(state.complete(succeeded: true, isPaused: true) == .wait)
        #expect(state.resume(isPaused: false) == .deliverHead)
        #expect(state.resume(isPaused: false) == .finish)
    }

    @Test func aFailureDoesNotWait() {
        var state = Self.inBody()
        #expect(state.receiveChunk(count: 1, isPaused: true) == .wait)
        #expect(state.complete(succeeded: false, isPaused: true) == .fail)
    }

    @Test func aChunkThatWaitedIsCountedOnce() {
        var state = Self.inBody()
        #expect(state.receiveChunk(count: 10, isPaused: true) == .wait)
        #expect(state.receiveChunk(count: 10, isPaused: false) == .deliver(headFirst: false))
        #expect(state.decodedBytes == 10)
    }

    // MARK: - Backlog

    @Test func theBacklogComesInOrder() {
        var state = Self.inBody(isPaused: true)
        #expect(
            state.receiveChunk(count: 10, isPaused: true, canWait: { false }) == .appendToBacklog)
        // Not before the backlog, though the consumer has resumed.
        #expect(
            state.receiveChunk(count: 5, isPaused: false, canWait: { false }) == .appendToBacklog)
        #expect(state.complete(succeeded: true, isPaused: false) == .wait)
        #expect(state.resume(isPaused: false) == .deliverHead)
        #expect(state.resume(isPaused: false) == .deliverBacklog)
        #expect(state.resume(isPaused: true) == nil)
        #expect(state.resume(isPaused: false) == .deliverBacklog)
        #expect(state.resume(isPaused: false) == .finish)
    }

    @Test func theBacklogIsLimited() {
        var limits = State.Limits()
        limits.backlogBytes = 10
        var state = TransferState(isRepeatable: true, limits: limits)
        _ = state.receiveStatusLine(status: 200, byteCount: 17)
        _ = state.receiveEndOfHead(byteCount: 2, isPaused: false)
        for _ in 0..<3 {
            #expect(
                state.receiveChunk(count: 10, isPaused: true, canWait: { false }) == .appendToBacklog)
            #expect(state.resume(isPaused: false) == .deliverBacklog)
            state.removeFromBacklog(10)
        }
        #expect(state.receiveChunk(count: 9, isPaused: true, canWait: { false }) == .appendToBacklog)
        #expect(state.receiveChunk(count: 2, isPaused: true, canWait: { false }) == .refuse)
        #expect(state.refusal == .backlogFull)
    }

    // MARK: - Coded bodies

    @Test func decodingIsNotOvertaken() {
        var state = Self.inBody()
        state.beginDecoding()
        #expect(state.receiveChunk(count: 10, isPaused: false) == .deliver(headFirst: false))
        state.receiveCoded()
        state.receiveDecoded(count: 500, isPending: true, brokenOff: nil)
        // The consumer has paused and resumed since; curl keeps the next chunk, or it is appended to the backlog.
        #expect(state.receiveChunk(count: 10, isPaused: false) == .wait)
        #expect(state.receiveChunk(count: 10, isPaused: false, canWait: { false }) == .appendToBacklog)
        #expect(state.complete(succeeded: true, isPaused: false) == .wait)
        #expect(state.resume(isPaused: true) == nil)
        #expect(state.resume(isPaused: false) == .deliverDecoded)
        state.receiveDecoded(count: 20, isPending: false, brokenOff: .gzip)
        #expect(state.resume(isPaused: false) == .deliverBacklog)
        state.receiveCoded()
        #expect(state.resume(isPaused: false) == .deliverDecoded)
        state.receiveDecoded(count: 3, isPending: false, brokenOff: nil)
        #expect(state.resume(isPaused: false) == .finish)
        #expect(state.decodedBytes == 523)
    }

    @Test(arguments: [false, true])
    func whatBreaksOffIsNotFinished(isPaused: Bool) {
        var state = Self.inBody()
        state.beginDecoding()
        #expect(state.receiveChunk(count: 10, isPaused: false) == .deliver(headFirst: false))
        state.receiveDecoded(count: 5, isPending: false, brokenOff: .gzip)
        // A failure does not wait, and trailers after the incomplete body are not delivered.
        #expect(state.receiveFieldLine(byteCount: 1) == .keep)
        #expect(state.complete(succeeded: true, isPaused: isPaused) == .fail)
        #expect(state.refusal == .brokenOff(.gzip))
    }

    @Test func whatBreaksOffAfterAPauseIsNotFinished() {
        var state = Self.inBody()
        state.beginDecoding()
        #expect(state.receiveChunk(count: 10, isPaused: false) == .deliver(headFirst: false))
        state.receiveCoded()
        #expect(state.complete(succeeded: true, isPaused: true) == .wait)
        #expect(state.resume(isPaused: false) == .deliverDecoded)
        state.receiveDecoded(count: 5, isPending: false, brokenOff: .gzip)
        #expect(state.resume(isPaused: false) == .fail)
        #expect(state.isOver)
    }
}
