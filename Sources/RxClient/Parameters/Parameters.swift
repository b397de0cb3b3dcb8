import FoundationEssentials
import HTTPTypes
public import RxHTTP

/// The parameters of a request: what they are and how they travel.
///
/// ```swift
/// .query(["page": 1, "keyword": "green tea"])   // ?keyword=green%20tea&page=1
/// .json(NewGoods(name: "tea"))                   // {"name":"tea"}
/// .form(["user": "anna", "password": secret])    // password=…&user=anna
/// .multipart([.file("photo", path)])             // a form with a file
/// ["id": 7]                                      // as the client's format says
/// ```
///
/// Values come from a dictionary or any `Encodable` model and follow the client's encoder; the keys of a
/// dictionary stay as they are. In a query or a form, `null` is left out, names go out in alphabetical order, and
/// lists and nested objects are written as the ``ParameterStyle`` says: this one's, or else the client's.
public struct Parameters: Sendable {
    /// The names and values of parameters given in place.
    public typealias Values = [String: any Encodable & Sendable]

    private enum Format {
        /// The client's ``ParameterFormat`` for methods with content, otherwise the query.
        case standard
        case query
        case json
        case form
        case text(String)
        case multipart([Part])
        case custom(ParameterSerializer)
        case body(Body, contentType: String?)

        init(_ format: ParameterFormat) {
            switch format {
            case .json: self = .json
            case .form: self = .form
            case .query: self = .query
            case .multipart: self = .multipart([])
            case .custom(let serializer): self = .custom(serializer)
            }
        }
    }

    private var format: Format
    private let model: (any Encodable & Sendable)?
    private var additions: Values = [:]
    private var removals: Set<String> = []
    private var style: ParameterStyle?
    private var secrets: Set<String> = []

    private init(_ format: Format, _ model: (any Encodable & Sendable)? = nil) {
        self.format = format
        self.model = model
    }

    /// Whether what they make can be sent more than once.
    var isReplayable: Bool {
        switch format {
        case .body(let body, _): body.isReplayable
        case .multipart(let parts): parts.allSatisfy { $0.body.isReplayable }
        default: true
        }
    }

    /// No parameters.
    public static let none = Parameters(.query)

    /// As the client's ``ClientConfiguration/parameterFormat`` says; into the query with GET, HEAD and DELETE.
    public static func standard(_ values: Values) -> Parameters {
        standard(values.mapValues(ParameterValue.init))
    }

    /// As the client's ``ClientConfiguration/parameterFormat`` says; into the query with GET, HEAD and DELETE.
    public static func standard(_ model: some Encodable & Sendable) -> Parameters {
        Parameters(.standard, model)
    }

    /// Into the URL's query, after what is there.
    public static func query(_ values: Values) -> Parameters { query(values.mapValues(ParameterValue.init)) }

    /// Into the URL's query, after what is there.
    public static func query(_ model: some Encodable & Sendable) -> Parameters { Parameters(.query, model) }

    /// As a JSON body.
    public static func json(_ values: Values) -> Parameters { json(values.mapValues(ParameterValue.init)) }

    /// As a JSON body.
    public static func json(_ model: some Encodable & Sendable) -> Parameters { Parameters(.json, model) }

    /// As an `application/x-www-form-urlencoded` body.
    public static func form(_ values: Values) -> Parameters { form(values.mapValues(ParameterValue.init)) }

    /// As an `application/x-www-form-urlencoded` body.
    public static func form(_ model: some Encodable & Sendable) -> Parameters { Parameters(.form, model) }

    /// As a `text/plain` body, exactly as it is.
    public static func text(_ text: String) -> Parameters { Parameters(.text(text)) }

    /// As a `multipart/form-data` body: texts, bytes and files, which are read from the disk while they are sent.
    public static func multipart(_ parts: [Part]) -> Parameters { Parameters(.multipart(parts)) }

    /// As the body, just as it is: a file, a stream, bytes.
    ///
    /// - Parameter contentType: its MIME type. Default none: then it is for the header fields to say.
    public static func body(_ body: Body, contentType: String? = nil) -> Parameters {
        Parameters(.body(body, contentType: contentType))
    }

    /// A file as the body, read from the disk while it is sent.
    ///
    /// - Parameter contentType: its MIME type. Default `application/octet-stream`.
    public static func file(
        _ path: String, contentType: String = "application/octet-stream"
    ) -> Parameters {
        body(.file(path), contentType: contentType)
    }

    /// The same with `values` besides, over members of the same name. In a multipart form they are texts; beside a
    /// text, a file or another body they go into the query.
    public func adding(_ values: Values) -> Parameters {
        var parameters = self
        parameters.additions.merge(values) { $1 }
        parameters.removals.subtract(values.keys)
        return parameters
    }

    /// The same without the members called `names`.
    public func removing(_ names: String...) -> Parameters {
        var parameters = self
        parameters.removals.formUnion(names)
        for name in names { parameters.additions[name] = nil }
        return parameters
    }

    /// The same, travelling in this format whatever the client's is and whatever the method. A text, a file or another
    /// body stays what it is.
    ///
    /// ```swift
    /// client.post("/photos", .standard(["title": title]).sent(as: .multipart))
    /// ```
    public func sent(as format: ParameterFormat) -> Parameters {
        var parameters = self
        switch self.format {
        case .standard, .query, .json, .form, .custom: parameters.format = Format(format)
        case .text, .multipart, .body: break
        }
        return parameters
    }

    /// The same, with lists and nested objects written in another way than the client's.
    public func styled(_ style: ParameterStyle) -> Parameters {
        var parameters = self
        parameters.style = style
        return parameters
    }

    /// The same with the values of these names kept secret: no log, error or export shows them, in the request or
    /// in its answer.
    ///
    /// ```swift
    /// .form(["user": "anna", "pin": pin]).hiding("pin")
    /// ```
    public func hiding(_ names: String...) -> Parameters {
        var parameters = self
        parameters.secrets.formUnion(names)
        return parameters
    }

    /// Puts the parameters into a request.
    ///
    /// - Throws: `invalidParameters`, naming what cannot be encoded.
    func apply(to request: inout Request, _ configuration: ClientConfiguration) throws(NetworkError) {
        request.secretParameters.formUnion(secrets)
        let style = style ?? configuration.parameterStyle
        let encoder = configuration.encoder
        switch format(for: request.method, configuration) {
        case .query, .standard:
            try request.appendQuery(try style.write(try pairs(encoder, style)))
        case .form:
            let body = try pairs(encoder, style).encodedAsForm
            request.setBody(.text(body), contentType: "application/x-www-form-urlencoded")
        case .json:
            let data =
                if let model, additions.isEmpty, removals.isEmpty { try encoder.data(of: model) } else {
                    try encoder.data(of: try namedTree(encoder))
                }
            request.setBody(.bytes(Array(data)), contentType: "application/json")
        case .text(let text):
            request.setBody(.text(text), contentType: "text/plain; charset=utf-8")
            try request.appendQuery(try style.write(try pairs(encoder, style)))
        case .multipart(let parts):
            let form = Multipart(self.parts(parts, and: try pairs(encoder, style)))
            // Whatever the endpoint says, only this names the boundary.
            request.headerFields[.contentType] = form.contentType
            request.body = try form.body()
        case .custom(let serializer):
            let value: any Encodable & Sendable =
                if let model, additions.isEmpty, removals.isEmpty { model } else { try namedTree(encoder) }
            request.setBody(try serializer.body(of: value), contentType: serializer.contentType)
        case .body(let body, let contentType):
            request.setBody(body, contentType: contentType)
            try request.appendQuery(try style.write(try pairs(encoder, style)))
        }
    }

    private func format(for method: HTTPRequest.Method, _ configuration: ClientConfiguration) -> Format {
        guard case .standard = format else { return format }
        return [.get, .head, .delete].contains(method) ? .query : Format(configuration.parameterFormat)
    }

    /// The members of the body as they are signed: every scalar under its full name, of a multipart form the texts;
    /// none of a list at the top, or of a body that has no members.
    func signedPairs(_ configuration: ClientConfiguration) throws(NetworkError) -> [ParameterPair] {
        let style = style ?? configuration.parameterStyle
        switch format {
        case .query, .text, .body: return []
        case .standard, .json, .form, .custom:
            return try tree(configuration.encoder).map { $0.pairs(style) } ?? []
        case .multipart(let parts):
            return self.parts(parts, and: try pairs(configuration.encoder, style)).compactMap { part in
                guard part.fileName == nil, case .bytes(let bytes) = part.body else { return nil }
                return (part.name, String(decoding: bytes, as: UTF8.self))
            }
        }
    }

    /// The parts of a form without those taken out, and with what was added in place of those of the same name.
    private func parts(_ parts: [Part], and pairs: [ParameterPair]) -> [Part] {
        let replaced = removals.union(additions.keys)
        return parts.filter { !replaced.contains($0.name) } + pairs.map { Part.text($0.name, $0.value) }
    }

    private func pairs(
        _ encoder: JSONEncoder, _ style: ParameterStyle
    ) throws(NetworkError) -> [ParameterPair] {
        try namedTree(encoder).pairs(style)
    }

    private func namedTree(_ encoder: JSONEncoder) throws(NetworkError) -> JSONValue {
        guard let tree = try tree(encoder) else {
            throw NetworkError(.invalidParameters, "the parameters have no names")
        }
        return tree
    }

    /// All parameters as one JSON object; `nil` for a model that is none.
    private func tree(_ encoder: JSONEncoder) throws(NetworkError) -> JSONValue? {
        var members: [String: JSONValue] = [:]
        if let values = model as? [String: ParameterValue] {
            members = try encoder.trees(of: values)
        } else if let model {
            guard case .object(let own) = try encoder.tree(of: model) else { return nil }
            members = own
        }
        if !additions.isEmpty {
            members.merge(try encoder.trees(of: additions.mapValues(ParameterValue.init))) { $1 }
        }
        for name in removals { members[name] = nil }
        return .object(members)
    }
}

extension Parameters: ExpressibleByDictionaryLiteral {
    /// As the client's ``ClientConfiguration/parameterFormat`` says; into the query with GET, HEAD and DELETE. Of
    /// several values for one name the last counts.
    public init(dictionaryLiteral elements: (String, any Encodable & Sendable)...) {
        self = .standard(Values(elements) { $1 })
    }
}
