public import RxHTTP

extension Servers: RedactedDescription {
    /// The base URLs without user info and query.
    public var description: String {
        main.withoutSecrets + (standby.map { ", standby \($0.withoutSecrets)" } ?? "")
    }
}
