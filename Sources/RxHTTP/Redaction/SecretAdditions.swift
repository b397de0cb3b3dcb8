/// The additions of credentials and signatures to a request, recorded in order to hide and remove them.
package struct SecretAdditions: Sendable, Hashable {
    struct Content: Hashable {
        let body: Body
        let type: String?
    }

    /// The content before the first addition to it, with its type; `nil` while nothing has been added to the
    /// content.
    var content: Content?
    /// Pairs of the query, unescaped, as `name=value`.
    var query: Set<String> = []
    /// Path segments, and query names without a value.
    var texts: Set<String> = []
    /// Whether the whole content is hidden, because the addition has no name in it.
    var hidesContent = false

    /// Whether a query item, as written, is an addition.
    func include(item: Substring) -> Bool {
        let (name, value) = URLParts.pair(item)
        return value.map { query.contains("\(name)=\($0)") } ?? texts.contains(name)
    }
}
