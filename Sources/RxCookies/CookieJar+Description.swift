extension CookieJar: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number of cookies.
    public var description: String { "\(cookies.count) cookies" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Empty, so that `dump` shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
