/// A path to a place in a JSON document: the keys from the outermost object on.
///
/// ```swift
/// let count: PayloadPath = "data.count"
/// let odd: PayloadPath = ["data", "count.total"]   // a key with a dot in it
/// let whole: PayloadPath = ""
/// ```
public struct PayloadPath: Sendable, Hashable {
    /// The keys, outermost first; empty for the whole document.
    public var keys: [String]

    /// Creates a path from its keys.
    public init(_ keys: [String]) { self.keys = keys }
}

extension PayloadPath: ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    /// Keys joined by dots; an empty string for the whole document.
    public init(stringLiteral text: String) {
        self.init(text.split(separator: ".", omittingEmptySubsequences: true).map(String.init))
    }

    /// The keys, outermost first.
    public init(arrayLiteral keys: String...) { self.init(keys) }
}

extension PayloadPath: CustomStringConvertible {
    /// The keys joined by dots.
    public var description: String { keys.joined(separator: ".") }
}
