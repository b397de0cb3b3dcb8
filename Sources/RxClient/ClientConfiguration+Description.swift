public import RxHTTP

extension ClientConfiguration: RedactedDescription {
    /// The base URL without user info and query.
    public var description: String {
        "configuration for \(baseURL.withoutSecrets)"
    }
}
