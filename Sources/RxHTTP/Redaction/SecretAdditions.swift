/// The traces of what credentials and signatures have put into a request, to hide them and to take them out again.
package struct SecretAdditions: Sendable, Hashable {
    struct Content: Hashable {
        let body: Body
        let type: String?
    }

    /// The content before the first addition to it, with its type; `nil` while nothing has been added to the content.
    var content: Content?
    /// Pairs of the query, unescaped, as `name=value`.
    var query: Set<String> = []
    /// Path segments, and names without a value in the query.
    var texts: Set<String> = []
    /// Whether the content as a whole has to be hidden, since the addition has no name in it.
    var hidesContent = false

    /// Whether an item of a query, as it is written, is one of them.
    func include(item: Substring) -> Bool {
        let (name, value) = URLParts.pair(item)
        return value.map { query.contains("\(name)=\($0)") } ?? texts.contains(name)
    }
}
