import FoundationEssentials
import HTTPTypes
public import RxHTTP

/// The parameters of a request, and the format in which they are sent.
///
/// ```swift
/// let page = Parameters.query(["page": 1, "keyword": "green tea"])     // ?keyword=green%20tea&page=1
/// let goods = Parameters.json(NewGoods(name: "tea", price: 3))         // {"name":"tea","price":3}
/// let login = Parameters.form(["user": "anna", "password": password])  // password=secret&user=anna
/// let photo = Parameters.multipart([.file("photo", path)])             // a form with a file
/// let standard: Parameters = ["id": 7]                                 // as the client's format says
/// ```
///
/// Values are a dictionary or any `Encodable` model, encoded with the client's encoder, which does not change
/// the keys of a dictionary. `nil` values of a dictionary are omitted. In a query or a form, `null` is
/// omitted too, names are sorted alphabetically, and lists and nested objects follow the ``ParameterStyle``
/// of the parameters or, without one, of the client.
public struct Parameters: Sendable {
    /// The names and values of inline parameters. A `nil` value is omitted, in JSON as well.
    public typealias Values = [String: (any Encodable & Sendable)?]
    /// The parameters without `nil` values.
    typealias Members = [String: any Encodable & Sendable]

    enum Format {
        /// The client's ``ParameterFormat`` for methods with content, otherwise the query.
        case standard
        case query
        case json
        case form
        case text(String)
        case multipart([Multipart.Part])
        case custom(contentType: String, @Sendable (any Encodable & Sendable) throws -> [UInt8])
        indirect case body(Body, contentType: String?)

        init(_ format: ParameterFormat) {
            switch format {
            case .json: self = .json
            case .form: self = .form
            case .query: self = .query
            case .multipart: self = .multipart([])
            case .custom(let contentType, let write): self = .custom(contentType: contentType, write)
            }
        }
    }

    enum Content {
        case values(Values)
        indirect case model(any Encodable & Sendable)
    }

    private(set) var format: Format
    let content: Content?
    /// The added members. A name is never both here and in `removals`: the later call counts.
    private(set) var additions: Members = [:]
    private(set) var removals: Set<String> = []
    private(set) var style: ParameterStyle?
    private(set) var secrets: Set<String> = []
    /// The parameters for the URL's query, in addition to the body.
    package private(set) var urlQuery: Values = [:]
    /// A model for the URL's query, in addition to the body.
    package private(set) var urlQueryModel: (any Encodable & Sendable)?

    private init(_ format: Format, _ content: Content? = nil) {
        self.format = format
        self.content = content
    }

    /// Whether the body can be sent more than once.
    package var isReplayable: Bool {
        switch format {
        case .body(let body, _): body.isReplayable
        case .multipart(let parts): parts.allSatisfy { $0.body.isReplayable }
        default: true
        }
    }

    // The overloads for models are disfavored, so that a dictionary literal with values of one type is not a
    // model: a model would send its `nil` as `null`.

    /// No parameters.
    public static let none = Parameters(.query)

    /// Parameters in the client's `parameterFormat`; in the query for GET, HEAD and
    /// DELETE.
    public static func standard(_ values: Values) -> Parameters {
        Parameters(.standard, .values(values))
    }

    /// Parameters in the client's `parameterFormat`; in the query for GET, HEAD and
    /// DELETE.
    @_disfavoredOverload
    public static func standard(_ model: some Encodable & Sendable) -> Parameters {
        Parameters(.standard, .model(model))
    }

    /// Parameters in the URL's query, after any that the path contains.
    public static func query(_ values: Values) -> Parameters { Parameters(.query, .values(values)) }

    /// Parameters in the URL's query, after any that the path contains: the members of a model, or of each model of a
    /// list, one after the other.
    @_disfavoredOverload
    public static func query(_ model: some Encodable & Sendable) -> Parameters {
        Parameters(.query, .model(model))
    }

    /// Parameters in a JSON body.
    public static func json(_ values: Values) -> Parameters { Parameters(.json, .values(values)) }

    /// Parameters in a JSON body.
    @_disfavoredOverload
    public static func json(_ model: some Encodable & Sendable) -> Parameters {
        Parameters(.json, .model(model))
    }

    /// Parameters in an `application/x-www-form-urlencoded` body.
    public static func form(_ values: Values) -> Parameters { Parameters(.form, .values(values)) }

    /// Parameters in an `application/x-www-form-urlencoded` body.
    @_disfavoredOverload
    public static func form(_ model: some Encodable & Sendable) -> Parameters {
        Parameters(.form, .model(model))
    }

    /// An unchanged `text/plain` body.
    public static func text(_ text: String) -> Parameters { Parameters(.text(text)) }

    /// A `multipart/form-data` body: texts, bytes and files, which are read from the disk while they are
    /// sent.
    public static func multipart(_ parts: [Multipart.Part]) -> Parameters { Parameters(.multipart(parts)) }

    /// An unchanged body: a file, a stream, bytes.
    ///
    /// - Parameter contentType: the MIME type. Default `nil`: the header fields specify it.
    public static func body(_ body: Body, contentType: String? = nil) -> Parameters {
        Parameters(.body(body, contentType: contentType))
    }

    /// A file as the body, read from the disk while it is sent.
    ///
    /// - Parameter contentType: the MIME type. Default `application/octet-stream`.
    public static func file(
        _ path: String, contentType: String = "application/octet-stream"
    ) -> Parameters {
        body(.file(path), contentType: contentType)
    }

    /// Adds `values` to the URL's query, regardless of the format.
    ///
    /// ```swift
    /// client.post("/goods", .json(goods).query(["dryRun": true]))
    /// ```
    public func query(_ values: Values) -> Parameters {
        var parameters = self
        parameters.urlQuery.merge(values) { $1 }
        return parameters
    }

    /// Adds the members of a model, or of a list of models, to the URL's query, regardless of the format. They replace
    /// the members of an earlier model.
    @_disfavoredOverload
    public func query(_ model: some Encodable & Sendable) -> Parameters {
        var parameters = self
        parameters.urlQueryModel = model
        return parameters
    }

    /// Adds `values`, which replace members of the same name; `nil` values are skipped. In a multipart form they
    /// are text parts; with a text, a file or another body they are added to the query.
    public func adding(_ values: Values) -> Parameters {
        var parameters = self
        let members = values.present
        parameters.additions.merge(members) { $1 }
        parameters.removals.subtract(members.keys)
        return parameters
    }

    /// Removes the members with these names.
    public func removing(_ names: String...) -> Parameters {
        var parameters = self
        parameters.removals.formUnion(names)
        for name in names { parameters.additions[name] = nil }
        return parameters
    }

    /// Sends the parameters in this format, regardless of the client's format and the method. A text, a file
    /// or another body stays unchanged.
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

    /// Sets the style of lists and nested objects, which overrides the client's.
    public func styled(_ style: ParameterStyle) -> Parameters {
        var parameters = self
        parameters.style = style
        return parameters
    }

    /// Marks the values of these names as secret: no log, error or export shows them, in the request or in its
    /// response.
    ///
    /// ```swift
    /// client.post("/login", .form(["user": "anna", "pin": pin]).hiding("pin"))
    /// ```
    public func hiding(_ names: String...) -> Parameters {
        var parameters = self
        parameters.secrets.formUnion(names)
        return parameters
    }
}

extension Parameters: ExpressibleByDictionaryLiteral {
    /// Parameters in the client's `parameterFormat`; in the query for GET, HEAD and
    /// DELETE. The last of several values for one name counts.
    public init(dictionaryLiteral elements: (String, (any Encodable & Sendable)?)...) {
        self = .standard(Values(elements) { $1 })
    }
}

extension Parameters: RedactedDescription {
    /// The kind and the names, without the values.
    public var description: String {
        let kind =
            switch format {
            case .standard: "parameters"
            case .query: "query"
            case .json: "JSON"
            case .form: "form"
            case .text(let text): "text of \(text.utf8.count) bytes"
            case .multipart(let parts): "\(Multipart(parts, boundary: ""))"
            case .custom(let contentType, _): contentType
            case .body(let body, _): "body: \(body)"
            }
        var names: Set<String> = []
        if case .values(let values)? = content { names = Set(values.present.keys) }
        names = names.union(additions.keys).subtracting(removals)
        let model: [String] = if case .model(let model)? = content { ["\(type(of: model))"] } else { [] }
        let shown = model + names.sorted()
        var text = shown.isEmpty ? kind : kind + " with " + shown.joined(separator: ", ")
        if let urlQueryModel { text += ", query with \(type(of: urlQueryModel))" }
        if !urlQuery.isEmpty { text += ", query with \(urlQuery.keys.sorted().joined(separator: ", "))" }
        return text
    }

    /// Whether there are no parameters.
    package var isEmpty: Bool {
        guard case .query = format else { return false }
        return content == nil && additions.isEmpty && urlQuery.isEmpty && urlQueryModel == nil
    }
}

extension Parameters.Values {
    /// The members without `nil` and optionals that contain `nil`.
    var present: Parameters.Members {
        var members: Parameters.Members = [:]
        members.reserveCapacity(count)
        for case (let name, let value?) in self {
            switch value {
            // The most frequent types first; these casts are fast.
            case is String, is Int, is Bool: members[name] = value
            default: if (value as? any Absentable)?.isAbsent != true { members[name] = value }
            }
        }
        return members
    }
}

/// An optional of any wrapped type.
private protocol Absentable {
    var isAbsent: Bool { get }
}

extension Optional: Absentable {
    fileprivate var isAbsent: Bool {
        switch self {
        case nil: true
        case let value?: (value as? any Absentable)?.isAbsent ?? false
        }
    }
}

/// A value of any type. It is encoded through a container, so that the encoder's strategies apply to it; and
/// as the value of a dictionary, so that they leave its key unchanged.
struct ParameterValue: Encodable, Sendable {
    let value: any Encodable & Sendable

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }

    /// A string, integer or Bool, which every encoder writes in the same way, so that encoding needs no
    /// encoder.
    var scalar: JSONValue? {
        switch value {
        case let text as String: .string(text)
        case let number as Int: .integer(Int64(number))
        case let number as Int64: .integer(number)
        case let isTrue as Bool: .bool(isTrue)
        default: nil
        }
    }
}
