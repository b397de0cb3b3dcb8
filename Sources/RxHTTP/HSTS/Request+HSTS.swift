package import FoundationEssentials
import HTTPTypes

extension Request {
    /// The request with an https URL in place of an http one, where `store` knows that the host wants it; `nil` where it
    /// does not.
    package func upgraded(by store: HSTSStore, at now: Date) -> Request? {
        guard let url = store.upgrade(url, at: now) else { return nil }
        var request = self
        request.url = url
        return request
    }
}

extension ResponseHead {
    /// Stands for the response that redirects a request to https before it is sent, as browsers show it. No server can
    /// send it, since a transport's head has a version.
    static let upgrade = ResponseHead(
        status: .temporaryRedirect, headerFields: [.nonAuthoritativeReason: "HSTS"])

    /// Whether it is ``upgrade``.
    var isUpgrade: Bool {
        httpVersion == nil && status == .temporaryRedirect && fieldLines == Self.upgrade.fieldLines
    }
}

extension HTTPField.Name {
    fileprivate static let nonAuthoritativeReason = HTTPField.Name("Non-Authoritative-Reason")!
}
