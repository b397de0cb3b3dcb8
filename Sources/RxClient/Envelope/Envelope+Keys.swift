extension Envelope {
    /// Where something may be in an envelope: the first of several places where there is something counts.
    ///
    /// ```swift
    /// let nested: Envelope.Keys = "result.data"
    /// let either: Envelope.Keys = ["errcode", "error.code"]
    /// ```
    public struct Keys: Sendable, Equatable {
        /// The places, in the order in which they are looked at.
        public var paths: [PayloadPath]

        /// Creates keys from places.
        public init(_ paths: [PayloadPath]) { self.paths = paths }
    }
}

extension Envelope.Keys: ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    /// One place: keys joined by dots.
    public init(stringLiteral text: String) { self.init([PayloadPath(stringLiteral: text)]) }

    /// Several places.
    public init(arrayLiteral paths: PayloadPath...) { self.init(paths) }
}

extension Envelope.Keys: CustomStringConvertible {
    /// The places.
    public var description: String { paths.map(\.description).joined(separator: " or ") }
}
