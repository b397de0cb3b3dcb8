internal import CLibcurl
internal import HTTPTypes
internal import RxHTTP

/// A server may answer before it has all of the content, and need not take the rest.
extension Transfer {
    /// Whether the server has been asked if it takes the content, and has not got all of it yet.
    var asksFirst: Bool {
        guard continueWait != nil, let handle else { return false }
        guard let length = content.length else { return content.source?.isExhausted == false }
        return Int64(handle.sentBytes) < length
    }

    /// Has a look at an answer that says no while there is still content to send, once curl has returned: curl sends
    /// on if the server closes after the answer, and waits for ever if there was nothing to send at the moment.
    func noteEarlyAnswer() {
        guard content.source != nil, let status = head?.status, status.code >= 300, !isContentSent else {
            return
        }
        transport.multi.perform(.wrapUp(self))
    }

    /// Ends a transfer whose answer is there, and that is a no.
    func wrapUp() {
        guard !isOver, let handle, !isContentSent else { return }
        if isAnswerWhole(handle), !handle.isHeld {
            handle.isSpent = true
            complete(handle, CURLE_OK)
        } else {
            content.source?.stopWaiting()
            transport.multi.feed(self)
        }
    }

    /// Whether all of the answer has come, as far as its head tells.
    func isAnswerWhole(_ handle: EasyHandle) -> Bool {
        guard state.phase == .body, let head else { return false }
        switch head.status.code {
        case 204, 304: return true
        default: return request.method == .head || length.value == handle.receivedBytes
        }
    }
}
