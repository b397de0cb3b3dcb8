public import RxHTTP

extension CookieJar: RedactedDescription {
    /// The number of cookies.
    public var description: String { "\(cookies.count) cookies" }
}
