internal import CLibcurl

/// A new HTTP/2 connection is used for up to 100 streams until the server has said how many it allows. Those beyond are
/// refused (RFC 9113 §8.7) and go to the next new connection, where the same may happen.
extension Transfer {
    /// Whether libcurl has given the request up because one connection after the other refused it
    /// (``LibcurlFault/givesUpRefusedStreams``). The server has done nothing with it.
    func isRefusedTooOften(_ handle: EasyHandle, _ result: CURLcode) -> Bool {
        guard result == CURLE_RECV_ERROR || result == CURLE_SEND_ERROR, !isOver, state.refusal == nil,
            state.awaitsStatusLine, attempts.refusals < Self.mostRefusals, content.source?.canReopen ?? true,
            multi.features.has(.givesUpRefusedStreams)
        else { return false }
        return handle.error(result).message.hasPrefix("Connection died, tried")
    }

    /// libcurl tries six connections each time.
    private static var mostRefusals: Int { 16 }

    func sendAfterRefusals(_ handle: EasyHandle) {
        attempts.refusals += 1
        startOver(handle)
    }

    /// Sends the request from its beginning, as if it had not been sent.
    func startOver(_ handle: EasyHandle) {
        state = TransferState(of: request, on: multi)
        handle.isSpent = true
        content.source?.keep()
        release(handle)
        content.source?.reopen()
        multi.perform(.add(self))
    }
}
