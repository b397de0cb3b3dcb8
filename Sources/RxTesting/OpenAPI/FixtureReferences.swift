import RxHTTP

/// Follows the references of a JSON document (RFC 6901). Each object is indexed once and each reference followed once,
/// so that any number of them takes linear time.
struct FixtureReferences {
    private let root: FixtureNode
    private var objects: [Int: FixtureObject] = [:]
    private var targets: [Int: FixtureNode] = [:]

    init(_ document: FixtureDocument) { root = document.root }

    /// The members of a value, or of the value that it refers to.
    mutating func object(_ node: FixtureNode) throws(FixtureError) -> FixtureObject {
        try indexed(try resolved(node))
    }

    /// The value itself, or the one that it refers to.
    mutating func resolved(_ node: FixtureNode) throws(FixtureError) -> FixtureNode {
        var node = node
        var passed: Set<Int> = []
        while node.isObject, targets[node.place] == nil, let reference = try indexed(node)["$ref"] {
            guard passed.insert(node.place).inserted else {
                throw reference.error(.invalid("the reference leads back to itself"))
            }
            node = try target(of: reference)
        }
        let target = targets[node.place] ?? node
        for place in passed { targets[place] = target }
        return target
    }

    private mutating func indexed(_ node: FixtureNode) throws(FixtureError) -> FixtureObject {
        if let object = objects[node.place] { return object }
        let object = try node.object()
        objects[node.place] = object
        return object
    }

    private mutating func target(of reference: FixtureNode) throws(FixtureError) -> FixtureNode {
        let text = try reference.text()
        guard text == "#" || text.hasPrefix("#/") else {
            throw reference.error(.invalid("\(text) is not in this document"))
        }
        var node = root
        for token in text.dropFirst().split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            let name = token.replacing("+", with: "%2B").decodedAsForm.replacing("~1", with: "/")
                .replacing("~0", with: "~")
            guard node.isObject, let next = try indexed(node).members[name] else {
                throw reference.error(.invalid("\(text) does not exist"))
            }
            node = FixtureNode(document: root.document, place: next)
        }
        return node
    }
}
