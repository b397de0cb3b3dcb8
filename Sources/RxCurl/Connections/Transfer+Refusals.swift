internal import CLibcurl

/// A new HTTP/2 connection is used for up to 100 streams until the server has announced its limit. Streams
/// beyond the limit are refused (RFC 9113 §8.7) and sent on the next new connection, where the same may
/// happen.
extension Transfer {
    /// Whether libcurl has given up the request because one connection after another refused it
    /// (``LibcurlFault/givesUpRefusedStreams``). The server has not processed it.
    func isRefusedTooOften(_ handle: EasyHandle, _ result: CURLcode) -> Bool {
        guard result == CURLE_RECV_ERROR || result == CURLE_SEND_ERROR, !isOver, state.refusal == nil,
            state.awaitsStatusLine, attempts.refusals < Self.mostRefusals, content.source?.canReopen ?? true,
            multi.features.has(.givesUpRefusedStreams)
        else { return false }
        return handle.error(result).message.hasPrefix("Connection died, tried")
    }

    /// Whether the request is about to be sent on an idle connection that the server has closed, or on which bytes have
    /// arrived that no request asked for (``LibcurlFault/trustsIdleConnections``). From 8.22 on, libcurl tells the
    /// socket at this point.
    var isOnUncleanConnection: Bool {
        guard multi.features.has(.trustsIdleConnections), let socket = handle?.socket else { return false }
        return multi.sockets.isUnclean(socket)
    }

    /// libcurl tries six connections each time.
    private static var mostRefusals: Int { 16 }

    func sendAfterRefusals(_ handle: EasyHandle) {
        attempts.refusals += 1
        startOver(handle)
    }

    /// Sends the request again from the beginning, as if it had not been sent.
    func startOver(_ handle: EasyHandle) {
        state = TransferState(of: request, on: multi)
        handle.isSpent = true
        content.source?.keep()
        release(handle)
        content.source?.reopen()
        multi.perform(.add(self))
    }
}
