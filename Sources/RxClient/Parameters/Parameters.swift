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
/// Values are a dictionary or any `Encodable` model and follow the client's encoder, which does not change the keys of
/// a dictionary. `nil` values of a dictionary are left out. In a query or a form, so is `null`, names go out in
/// alphabetical order, and lists and nested objects are written as the ``ParameterStyle`` says: this one's, or else the
/// client's.
public struct Parameters: Sendable {
    /// The names and values of parameters given in place. One whose value is `nil` is left out, in JSON as well.
    public typealias Values = [String: (any Encodable & Sendable)?]
    /// The same without `nil`.
    typealias Members = [String: any Encodable & Sendable]

    enum Format {
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

    enum Content {
        case values(Members)
        case model(any Encodable & Sendable)
    }

    private(set) var format: Format
    let content: Content?
    private(set) var additions: Members = [:]
    private(set) var removals: Set<String> = []
    private(set) var style: ParameterStyle?
    private(set) var secrets: Set<String> = []
    /// What goes into the URL's query besides the body.
    private(set) var urlQuery: Values = [:]

    private init(_ format: Format, _ content: Content? = nil) {
        self.format = format
        self.content = content
    }

    /// Whether what they make can be sent more than once.
    var isReplayable: Bool {
        switch format {
        case .body(let body, _): body.isReplayable
        case .multipart(let parts): parts.allSatisfy { $0.body.isReplayable }
        default: true
        }
    }

    // The overloads for models yield to those for dictionaries, so that a literal whose values are of one type is no
    // model: of that `nil` would be sent as `null`.

    /// No parameters.
    public static let none = Parameters(.query)

    /// As the client's ``ClientConfiguration/parameterFormat`` says; into the query with GET, HEAD and DELETE.
    public static func standard(_ values: Values) -> Parameters {
        Parameters(.standard, .values(values.present))
    }

    /// As the client's ``ClientConfiguration/parameterFormat`` says; into the query with GET, HEAD and DELETE.
    @_disfavoredOverload
    public static func standard(_ model: some Encodable & Sendable) -> Parameters {
        Parameters(.standard, .model(model))
    }

    /// Into the URL's query, after what is there.
    public static func query(_ values: Values) -> Parameters { Parameters(.query, .values(values.present)) }

    /// Into the URL's query, after what is there.
    @_disfavoredOverload
    public static func query(_ model: some Encodable & Sendable) -> Parameters {
        Parameters(.query, .model(model))
    }

    /// As a JSON body.
    public static func json(_ values: Values) -> Parameters { Parameters(.json, .values(values.present)) }

    /// As a JSON body.
    @_disfavoredOverload
    public static func json(_ model: some Encodable & Sendable) -> Parameters {
        Parameters(.json, .model(model))
    }

    /// As an `application/x-www-form-urlencoded` body.
    public static func form(_ values: Values) -> Parameters { Parameters(.form, .values(values.present)) }

    /// As an `application/x-www-form-urlencoded` body.
    @_disfavoredOverload
    public static func form(_ model: some Encodable & Sendable) -> Parameters {
        Parameters(.form, .model(model))
    }

    /// As a `text/plain` body, unchanged.
    public static func text(_ text: String) -> Parameters { Parameters(.text(text)) }

    /// As a `multipart/form-data` body: texts, bytes and files, which are read from the disk while they are sent.
    public static func multipart(_ parts: [Part]) -> Parameters { Parameters(.multipart(parts)) }

    /// As the unchanged body: a file, a stream, bytes.
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

    /// The same with `values` in the URL's query in addition, whatever the parameters are.
    ///
    /// ```swift
    /// .json(goods).query(["dryRun": true])
    /// ```
    public func query(_ values: Values) -> Parameters {
        var parameters = self
        parameters.urlQuery.merge(values) { $1 }
        return parameters
    }

    /// The same with `values` added, which replace members of the same name; `nil` values are skipped. In a multipart
    /// form they are texts; beside a text, a file or another body they go into the query.
    public func adding(_ values: Values) -> Parameters {
        var parameters = self
        let members = values.present
        parameters.additions.merge(members) { $1 }
        parameters.removals.subtract(members.keys)
        return parameters
    }

    /// The same without the members called `names`.
    public func removing(_ names: String...) -> Parameters {
        var parameters = self
        parameters.removals.formUnion(names)
        for name in names { parameters.additions[name] = nil }
        return parameters
    }

    /// The same in this format, regardless of the client's format and the method. A text, a file or another body stays
    /// what it is.
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

    /// The same with secret values for these names: no log, error or export shows them, in the request or in its
    /// response.
    ///
    /// ```swift
    /// .form(["user": "anna", "pin": pin]).hiding("pin")
    /// ```
    public func hiding(_ names: String...) -> Parameters {
        var parameters = self
        parameters.secrets.formUnion(names)
        return parameters
    }
}

extension Parameters: ExpressibleByDictionaryLiteral {
    /// As the client's ``ClientConfiguration/parameterFormat`` says; into the query with GET, HEAD and DELETE. Of
    /// several values for one name the last counts.
    public init(dictionaryLiteral elements: (String, (any Encodable & Sendable)?)...) {
        self = .standard(Values(elements) { $1 })
    }
}
