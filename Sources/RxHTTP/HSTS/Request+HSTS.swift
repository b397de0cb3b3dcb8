package import FoundationEssentials
import HTTPTypes

extension Request {
    /// The request with an https URL, if its URL is http and `store` requires TLS for the host; otherwise
    /// `nil`.
    package func upgraded(by store: HSTSStore, at now: Date) -> Request? {
        guard let url = store.upgrade(url, at: now) else { return nil }
        var request = self
        request.url = url
        return request
    }
}

extension ResponseHead {
    /// The head that stands for a redirect to https before the request is sent, as browsers show it. No
    /// server can send it, because heads from a transport have a version.
    package static let upgrade = ResponseHead(
        status: .temporaryRedirect, headerFields: [.nonAuthoritativeReason: "HSTS"])

    /// Whether the head is ``upgrade``.
    var isUpgrade: Bool {
        httpVersion == nil && status == .temporaryRedirect && fieldLines == Self.upgrade.fieldLines
    }
}

extension HTTPField.Name {
    fileprivate static let nonAuthoritativeReason = HTTPField.Name("Non-Authoritative-Reason")!
}
