import RxHTTP
import RxJSON

extension FixtureNode {
    var isObject: Bool { document.tape.kind(at: index).isObject }

    /// The first element of an array.
    func firstElement() throws(FixtureError) -> FixtureNode? { try elements().first }

    /// The first member of an object.
    func firstMember() throws(FixtureError) -> FixtureNode? { try object().ordered.first?.node }

    /// The content that the value is an example of.
    ///
    /// A string is the text itself. In JSON it is that only if it contains an object or an array, since documents escape
    /// JSON texts in this way, too; otherwise it is a string of JSON.
    func body(isJSON: Bool) throws(FixtureError) -> [UInt8] {
        let kind = document.tape.kind(at: index)
        let literal = Array(document.bytes[document.tape.literal(of: index)])
        guard kind.isString else { return literal }
        let text = Array(try text().utf8)
        guard isJSON else { return text }
        return (try? JSONPart(wholeOf: text))?.kind.isCollection == true ? text : literal
    }

    /// The value of a header field. The elements of an array are separated by commas (OpenAPI's style `simple`).
    func headerText() throws(FixtureError) -> String {
        switch document.tape.kind(at: index) {
        case .array:
            var texts: [String] = []
            for element in try elements() { texts.append(try element.scalarText()) }
            return texts.joined(separator: ",")
        default: return try scalarText()
        }
    }

    private func scalarText() throws(FixtureError) -> String {
        let kind = document.tape.kind(at: index)
        if kind.isString { return try text() }
        guard !kind.isCollection else { throw error(.notA("a string, a number or an array of them")) }
        return String(decoding: document.bytes[document.tape.literal(of: index)], as: UTF8.self)
    }
}

extension FixtureObject {
    /// The members in the order of the document.
    var ordered: [(name: String, node: FixtureNode)] {
        members.sorted { $0.value < $1.value }.map {
            ($0.key, FixtureNode(document: node.document, index: $0.value))
        }
    }

    /// A member, even if it is `null`.
    func value(_ name: String) -> FixtureNode? {
        members[name].map { FixtureNode(document: node.document, index: $0) }
    }
}

extension String {
    /// The media type without parameters, in lowercase.
    var mediaType: String {
        prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
    }

    var isJSON: Bool { mediaType == "application/json" || mediaType.hasSuffix("+json") }
}

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
        while node.isObject, targets[node.index] == nil, let reference = try indexed(node)["$ref"] {
            guard passed.insert(node.index).inserted else {
                throw reference.error(.invalid("the reference leads back to itself"))
            }
            node = try target(of: reference)
        }
        let target = targets[node.index] ?? node
        for index in passed { targets[index] = target }
        return target
    }

    private mutating func indexed(_ node: FixtureNode) throws(FixtureError) -> FixtureObject {
        if let object = objects[node.index] { return object }
        let object = try node.object()
        objects[node.index] = object
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
            node = FixtureNode(document: root.document, index: next)
        }
        return node
    }
}
