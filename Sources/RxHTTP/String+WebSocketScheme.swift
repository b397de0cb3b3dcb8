extension String {
    /// The URL with http or https instead of ws or wss (RFC 6455 §3).
    package var withHTTPScheme: String {
        let scheme = prefix(6).lowercased()
        if scheme.hasPrefix("ws://") { return "http" + dropFirst(2) }
        return scheme == "wss://" ? "https" + dropFirst(3) : self
    }
}
