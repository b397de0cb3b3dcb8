public import RxHTTP

extension Client: RedactedDescription {
    /// The base URL without user info and query.
    public var description: String { "client of \(servers.main.withoutSecrets)" }
}
