internal import HTTPTypes
internal import RxHTTP

extension Transfer {
    /// Whether curl may go on from the head that has come, with credentials: it answers a 401, and content it first
    /// sends none of, to see whether there is a challenge (`CURLOPT_HTTPAUTH`).
    var isChallenge: Bool {
        guard request.digest != nil, let code = status?.code else { return false }
        if code == 401 { return true }
        return code < 300 && state.sendCount == 1 && content.framing(of: request) != .none
    }
}
