internal import CLibcurl
internal import HTTPTypes
internal import RxHTTP

/// A server may respond before it has all of the content, and need not take the rest.
extension Transfer {
    /// Whether the server has been asked if it takes the content, and can be sent the request again without asking.
    var asksFirst: Bool { expectation.wait != nil && content.source?.canReopen ?? true }

    /// Starts over, without the question that the server does not understand.
    func sendWithoutAsking(_ handle: EasyHandle) {
        expectation.isAllowed = false
        startOver(handle)
    }

    /// Checks an unsuccessful response that comes while there is still content to send, once curl has returned: curl
    /// sends on if the server closes after the response, and waits forever if there was nothing to send at the moment.
    func noteEarlyResponse() {
        guard !state.isChallenged, content.source != nil, let status = response.head?.status,
            status.code >= 300, !isContentSent
        else { return }
        multi.perform(.wrapUp(self))
    }

    /// Ends a transfer whose response is there, and is no success.
    func wrapUp() {
        guard !isOver, let handle, !isContentSent else { return }
        if isResponseComplete(handle), !handle.isHeld {
            handle.isSpent = true
            complete(handle, CURLE_OK)
        } else {
            content.source?.stopWaiting()
            multi.feed(self)
        }
    }

    /// Whether all of the response has come, as far as its head tells.
    func isResponseComplete(_ handle: EasyHandle) -> Bool {
        guard state.hasHead, let head = response.head else { return false }
        switch head.status.code {
        case 204, 304: return true
        default: return request.method == .head || response.length.value == handle.receivedBytes
        }
    }
}
