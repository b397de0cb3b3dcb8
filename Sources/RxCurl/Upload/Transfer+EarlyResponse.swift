internal import CLibcurl
internal import HTTPTypes
internal import RxHTTP

/// A server may respond before it has all of the content, and need not take the rest.
extension Transfer {
    /// Whether the request asks first, and can be sent again without asking.
    var asksFirst: Bool { expectation.wait != nil && content.source?.canReopen ?? true }

    /// Starts over without the expectation, which the server does not support.
    func sendWithoutAsking(_ handle: EasyHandle) {
        expectation.isAllowed = false
        startOver(handle)
    }

    /// Handles an unsuccessful response that arrives before all content has been sent, once curl has
    /// returned: curl continues to send if the server closes after the response, and waits forever if there
    /// was no content at that moment.
    func noteEarlyResponse() {
        guard !state.isChallenged, content.source != nil, let status = response.head?.status,
            status.code >= 300, !isContentSent
        else { return }
        multi.perform(.wrapUp(self))
    }

    /// Ends a transfer whose response is complete and unsuccessful.
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

    /// Whether the response is complete, as far as its head shows.
    func isResponseComplete(_ handle: EasyHandle) -> Bool {
        guard state.hasHead, let head = response.head else { return false }
        switch head.status.code {
        case 204, 304: return true
        default: return request.method == .head || response.length.value == handle.receivedBytes
        }
    }
}
