extension Envelope {
    /// The possible places of a value in an envelope: the first place with a value counts.
    ///
    /// ```swift
    /// let nested: Envelope.Keys = "result.data"
    /// let either: Envelope.Keys = ["errcode", "error.code"]
    /// ```
    public struct Keys: Sendable, Equatable {
        /// The places, in the order of the lookup.
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
