import FoundationEssentials
public import HTTPTypes
public import RxTesting

/// The description of an interface in OpenAPI 3, whose examples a `ScriptedTransport` returns.
///
/// ```swift
/// let shop = try OpenAPIDocument("Fixtures/shop.json")
/// let transport = ScriptedTransport(
///     on: clock,
///     try [.when(.get, "/goods/{id}", shop.reply(to: .get, "/goods/{id}", status: 404))] + shop.rules())
/// ```
///
/// The document is JSON. A response takes its content from `example`, the first of `examples`, or the `example` of the
/// schema; its header fields likewise. References within the document are followed; others are errors. Contents are
/// never generated from schemas, and requests are not validated.
public struct OpenAPIDocument: Sendable {
    private let document: FixtureDocument

    /// The largest file that is read: 64 MiB.
    public static let sizeLimit = 64 << 20

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - path: the path of the file, absolute or relative to the folder of `source`.
    ///   - source: the source file that the path is relative to. Default the caller's.
    /// - Throws: a ``FixtureError`` if the file cannot be read, is larger than ``sizeLimit``, or is not JSON, or if its
    ///   version is not 3.
    public init(_ path: String, beside source: String = #filePath) throws(FixtureError) {
        let file = URL(fixture: path, beside: source).path
        try self.init(bytes: FixtureDocument.bytes(of: file, limit: Self.sizeLimit), file: file)
    }

    /// Reads the content of a file.
    ///
    /// - Parameters:
    ///   - bytes: the JSON text, in UTF-8.
    ///   - file: the name of the file for errors. Default none.
    /// - Throws: a ``FixtureError`` if the text is not JSON, or its version is not 3.
    public init(bytes: [UInt8], file: String? = nil) throws(FixtureError) {
        document = try FixtureDocument(bytes, file: file)
        let version = try document.root.object().required("openapi")
        guard try version.text().hasPrefix("3.") else {
            throw version.error(.unsupportedVersion(try version.text()))
        }
    }

    /// A rule for each operation, with an example of its first successful response, or of another one if it has none.
    ///
    /// Paths begin with the path of the first server. Paths without parameters come before those with parameters, as the
    /// specification requires (OpenAPI 3.1.1 §4.8.8). A request for an operation without an example fails with
    /// `NetworkError.Code.unscripted`, and the message names the operation. A test that requires its rules does not
    /// require these.
    ///
    /// - Throws: a ``FixtureError`` that names the place in the document.
    public func rules() throws(FixtureError) -> [ScriptedTransport.Rule] {
        var reader = try OpenAPIReader(document)
        return try reader.rules()
    }

    /// The example of one response.
    ///
    /// - Parameters:
    ///   - method: the method of the operation.
    ///   - path: the path as the document has it, such as `/goods/{id}`.
    ///   - status: the status, for which a range such as `4XX` and `default` stand as well. Default: the first successful
    ///     one that has an example.
    ///   - type: the media type. Default: JSON, otherwise the first that has an example.
    ///   - example: the name among `examples`. Default: `example`, or the first of `examples`.
    ///   - delay: the time since the subscription. Default none.
    /// - Throws: a ``FixtureError`` that names the place in the document: of an operation or a response that is not
    ///   there, or of a response without an example.
    public func reply(
        to method: HTTPRequest.Method, _ path: String, status: Int? = nil, type: String? = nil,
        example: String? = nil, after delay: Duration = .zero
    ) throws(FixtureError) -> ScriptedTransport.Reply {
        var reader = try OpenAPIReader(document)
        let operation = try reader.operation(method, path)
        let selection = OpenAPIReader.Selection(status: status, type: type, example: example)
        guard let response = try reader.response(of: operation, selection) else {
            throw try reader.responses(of: operation).error(.noExample)
        }
        return .bytes(response.body, status: response.status, headers: response.headers, after: delay)
    }
}

/// Finds the examples in a description of an interface.
struct OpenAPIReader {
    /// The properties that an example must have; `nil` matches all.
    struct Selection {
        var status: Int?
        var type: String?
        var example: String?
    }

    /// An example of a response.
    struct Response {
        var status: HTTPResponse.Status
        var headers: HTTPFields = [:]
        var body: [UInt8] = []
    }

    /// The methods of HTTP that are members of a path (OpenAPI 3.2.0 §4.8.1).
    private static let methods = [
        "get", "put", "post", "delete", "options", "head", "patch", "trace", "query",
    ]

    private let root: FixtureObject
    private let paths: FixtureNode
    private var references: FixtureReferences
    /// The parts that operations share: the examples of responses that the test did not choose, those of other objects,
    /// and the paths of servers.
    private var contents: [Int: (headers: HTTPFields, body: [UInt8])?] = [:]
    private var examples: [Int: FixtureNode?] = [:]
    private var prefixes: [Int: String] = [:]

    init(_ document: FixtureDocument) throws(FixtureError) {
        root = try document.root.object()
        paths = try root.required("paths")
        references = FixtureReferences(document)
    }

    // MARK: - Operations

    mutating func rules() throws(FixtureError) -> [ScriptedTransport.Rule] {
        var found: [(path: PathPattern, rule: ScriptedTransport.Rule)] = []
        for (template, node) in try paths.object().ordered where !template.hasPrefix("x-") {
            guard template.hasPrefix("/") else { throw node.error(.invalid("a path begins with a slash")) }
            let item = try references.object(node)
            for (method, operation) in try operations(of: item) {
                let prefix = try prefix(of: operation, item)
                let reply = try response(of: operation, Selection()).map {
                    ScriptedTransport.Reply.bytes($0.body, status: $0.status, headers: $0.headers)
                }
                var rule = ScriptedTransport.Rule.when(
                    method, prefix + template,
                    reply
                        ?? .failure(.unscripted, "the operation \(method) \(template) has no example"))
                rule.isRequired = false
                found.append((rule.path, rule))
            }
        }
        let ranked = found.enumerated().map {
            (index: $0.offset, rank: $0.element.path.rank, rule: $0.element.rule)
        }
        return ranked.sorted { one, other in
            if one.rank == other.rank { return one.index < other.index }
            return one.rank.lexicographicallyPrecedes(other.rank)
        }.map(\.rule)
    }

    /// The operation of a path as the document has it.
    mutating func operation(
        _ method: HTTPRequest.Method, _ path: String
    ) throws(FixtureError) -> FixtureObject {
        let item = try references.object(try references.object(paths).required(path))
        for (name, operation) in try operations(of: item) where name == method { return operation }
        throw item.node.error(.missing, member: method.rawValue.lowercased())
    }

    private mutating func operations(
        of item: FixtureObject
    ) throws(FixtureError) -> [(method: HTTPRequest.Method, operation: FixtureObject)] {
        var operations: [(method: HTTPRequest.Method, operation: FixtureObject)] = []
        for name in Self.methods {
            guard let node = item[name], let method = HTTPRequest.Method(name.uppercased()) else { continue }
            operations.append((method, try references.object(node)))
        }
        guard let others = item["additionalOperations"] else { return operations }
        for (name, node) in try others.object().ordered {
            guard let method = HTTPRequest.Method(name) else { throw node.error(.notA("a method of HTTP")) }
            operations.append((method, try references.object(node)))
        }
        return operations
    }

    /// The path of the operation's first server, with which the path of its rule begins.
    private mutating func prefix(
        of operation: FixtureObject, _ item: FixtureObject
    ) throws(FixtureError) -> String {
        guard let servers = operation["servers"] ?? item["servers"] ?? root["servers"] else { return "" }
        if let known = prefixes[servers.index] { return known }
        let prefix =
            try servers.firstElement().map { server throws(FixtureError) in try path(of: server) } ?? ""
        prefixes[servers.index] = prefix
        return prefix
    }

    /// The path of a server, without the slash at its end.
    private mutating func path(of server: FixtureNode) throws(FixtureError) -> String {
        let members = try references.object(server)
        let variables = try members["variables"].map { node throws(FixtureError) in
            try references.object(node)
        }
        var (url, rest) = ("", try members.required("url").text()[...])
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let name = rest[rest.index(after: open)..<close]
            url += rest[..<open]
            if let variable = variables?[String(name)] {
                url += try references.object(variable).required("default").text()
            } else {
                url += rest[open...close]
            }
            rest = rest[rest.index(after: close)...]
        }
        url += rest
        let path = url.firstRange(of: "://").map { url[$0.upperBound...].drop { $0 != "/" } } ?? url[...]
        return path.hasPrefix("/") ? String(path.hasSuffix("/") ? path.dropLast() : path) : ""
    }

    // MARK: - Responses

    mutating func responses(of operation: FixtureObject) throws(FixtureError) -> FixtureNode {
        try references.object(try operation.required("responses")).node
    }

    /// The example of a response; `nil` if there is none.
    mutating func response(of operation: FixtureObject, _ selection: Selection) throws(FixtureError)
        -> Response?
    {
        let responses = try references.object(try operation.required("responses"))
        for (status, node) in try candidates(responses, selection.status) {
            guard let found = try content(of: references.object(node), selection) else { continue }
            return Response(status: status, headers: found.headers, body: found.body)
        }
        return nil
    }

    /// The responses that may be meant, the best first.
    private func candidates(
        _ responses: FixtureObject, _ status: Int?
    ) throws(FixtureError) -> [(status: HTTPResponse.Status, node: FixtureNode)] {
        if let status {
            guard (200...599).contains(status),
                let node = responses["\(status)"] ?? responses["\(status / 100)XX"] ?? responses["default"]
            else { throw responses.node.error(.missing, member: "\(status)") }
            return [(HTTPResponse.Status(code: status), node)]
        }
        var found: [(order: Int, status: Int, node: FixtureNode)] = []
        for (name, node) in try responses.node.object().ordered where !name.hasPrefix("x-") {
            if name == "default" {
                found.append((300, 200, node))
            } else if let status = Int(name.hasSuffix("XX") ? name.prefix(1) + "00" : name[...]),
                (100...599).contains(status)
            {
                // Successes, the default, redirects and failures; no response begins with an informational status.
                if status >= 200 { found.append((status < 300 ? status : status + 1, status, node)) }
            } else {
                throw node.error(.invalid("\(name) is not a status, such as 200, 2XX or default"))
            }
        }
        // A failure does not stand in for a success without an example.
        if found.contains(where: { $0.order <= 300 }) { found.removeAll { $0.order > 300 } }
        return found.sorted { $0.order < $1.order }.map { (HTTPResponse.Status(code: $0.status), $0.node) }
    }

    /// The header fields and the body of a response; `nil` if it has content but no example of it.
    private mutating func content(
        of response: FixtureObject, _ selection: Selection
    ) throws(FixtureError) -> (headers: HTTPFields, body: [UInt8])? {
        guard selection.type == nil, selection.example == nil else {
            return try readContent(of: response, selection)
        }
        if let known = contents[response.node.index] { return known }
        let found = try readContent(of: response, selection)
        contents.updateValue(found, forKey: response.node.index)
        return found
    }

    private mutating func readContent(
        of response: FixtureObject, _ selection: Selection
    ) throws(FixtureError) -> (headers: HTTPFields, body: [UInt8])? {
        var fields = HTTPFields()
        if let headers = response["headers"] {
            for (name, node) in try headers.object().ordered {
                guard let field = HTTPField.Name(name) else {
                    throw node.error(.invalid("\(name) is not the name of a header field"))
                }
                // The media type says it (OpenAPI 3.1.1 §4.8.17).
                guard field != .contentType, let value = try example(try references.object(node), nil) else {
                    continue
                }
                fields[field] = try value.headerText()
            }
        }
        guard let types = try response["content"]?.object().ordered, !types.isEmpty else {
            return selection.type == nil && selection.example == nil ? (fields, []) : nil
        }
        let wanted = types.filter { selection.type == nil || $0.name.mediaType == selection.type?.mediaType }
        let preferred = wanted.filter { $0.name.isJSON } + wanted.filter { !$0.name.isJSON }
        for (type, node) in preferred {
            let members = try references.object(node)
            guard let value = try example(members, selection.example) else { continue }
            if !type.contains("*") {
                fields[.contentType] = type
            } else if value.isObject {
                fields[.contentType] = "application/json"
            }
            return (fields, try value.body(isJSON: type.isJSON))
        }
        return nil
    }

    /// The example of a media type or a header field; the first one if `name` is `nil`.
    private mutating func example(
        _ object: FixtureObject, _ name: String?
    ) throws(FixtureError) -> FixtureNode? {
        if let name {
            return try object["examples"].flatMap { node throws(FixtureError) in
                try references.object(node)[name].map { node throws(FixtureError) in try value(of: node) }
            }
        }
        if let known = examples[object.node.index] { return known }
        let first = try firstExample(object)
        examples.updateValue(first, forKey: object.node.index)
        return first
    }

    private mutating func firstExample(_ object: FixtureObject) throws(FixtureError) -> FixtureNode? {
        if let example = object.value("example") { return example }
        if let examples = object["examples"], let first = try references.object(examples).node.firstMember() {
            return try value(of: first)
        }
        guard let schema = object["schema"] else { return nil }
        let target = try references.resolved(schema)
        // A schema may be true or false (JSON Schema 2020-12).
        guard target.isObject else { return nil }
        let members = try references.object(target)
        if let example = members.value("example") { return example }
        return try members["examples"]?.firstElement()
    }

    /// The value of an entry of `examples`.
    private mutating func value(of node: FixtureNode) throws(FixtureError) -> FixtureNode {
        let example = try references.object(node)
        if let external = example["externalValue"] {
            throw external.error(.invalid("\(try external.text()) is not in this document"))
        }
        for name in ["value", "dataValue", "serializedValue"] {
            if let value = example.value(name) { return value }
        }
        throw example.node.error(.missing, member: "value")
    }
}
