import FoundationEssentials
import HTTPTypes
import RxHTTP

/// The parameters of a request: what they are and how they travel.
///
/// ```swift
/// .query(["page": 1, "keyword": "green tea"])   // ?keyword=green%20tea&page=1
/// .json(NewGoods(name: "tea"))                   // {"name":"tea"}
/// .form(["user": "anna", "password": secret])    // password=…&user=anna
/// ```
///
/// Values come from a dictionary or any `Encodable` model and follow the client's encoder; the keys of a
/// dictionary stay as they are. In a query or a form, a list repeats its key, a nested object reads
/// `key[member]`, and `null` is left out. Keys go out in alphabetical order.
public struct Parameters: Sendable {
    /// The names and values of parameters given in place.
    public typealias Values = [String: any Encodable & Sendable]

    private enum Format {
        case query
        case json
        case form
        case text(String)
    }

    private let format: Format
    private let model: (any Encodable & Sendable)?
    private var additions: Values = [:]

    private init(_ format: Format, _ model: (any Encodable & Sendable)? = nil) {
        self.format = format
        self.model = model
    }

    /// No parameters.
    public static let none = Parameters(.query)

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

    /// The same with `values` besides, over members of the same name. Beside a text they go into the query.
    public func adding(_ values: Values) -> Parameters {
        var parameters = self
        parameters.additions.merge(values) { $1 }
        return parameters
    }

    /// Puts the parameters into a request.
    ///
    /// - Throws: `invalidParameters`, naming what cannot be encoded.
    func apply(to request: inout Request, _ encoder: JSONEncoder) throws(NetworkError) {
        switch format {
        case .query:
            try request.appendQuery(try members(encoder).pairs(named: "").encodedAsQuery)
        case .form:
            let body = try members(encoder).pairs(named: "").encodedAsForm
            request.setBody(Array(body.utf8), contentType: "application/x-www-form-urlencoded")
        case .json:
            let data =
                if let model, additions.isEmpty { try encoder.data(of: model) } else {
                    try encoder.data(of: try members(encoder))
                }
            request.setBody(Array(data), contentType: "application/json")
        case .text(let text):
            request.setBody(Array(text.utf8), contentType: "text/plain; charset=utf-8")
            try request.appendQuery(try members(encoder).pairs(named: "").encodedAsQuery)
        }
    }

    /// All parameters as one JSON object.
    private func members(_ encoder: JSONEncoder) throws(NetworkError) -> JSONValue {
        var members: [String: JSONValue] = [:]
        if let model { members = try encoder.members(of: model) }
        if !additions.isEmpty {
            members.merge(try encoder.members(of: additions.mapValues(ParameterValue.init))) { $1 }
        }
        return .object(members)
    }
}

/// A value of any type. Encoded through a container, so that the encoder's strategies hold for it; and as a
/// value of a dictionary, so that they leave its key alone.
private struct ParameterValue: Encodable, Sendable {
    let value: any Encodable & Sendable

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

extension JSONEncoder {
    /// The document for `model`, or `invalidParameters` naming what cannot be encoded.
    fileprivate func data(of model: some Encodable) throws(NetworkError) -> Data {
        do {
            return try encode(model)
        } catch EncodingError.invalidValue(_, let context) {
            // The value may be, or hold, a secret.
            throw NetworkError(
                .invalidParameters,
                "what is at \(context.codingPath.text(or: "the top")) cannot be encoded: "
                    + context.debugDescription)
        } catch {
            throw NetworkError(.invalidParameters, "the parameters cannot be encoded: \(error)")
        }
    }

    fileprivate func members(of model: some Encodable) throws(NetworkError) -> [String: JSONValue] {
        let data = try data(of: model)
        guard let tree = try? JSONDecoder().decode(JSONValue.self, from: data),
            case .object(let members) = tree
        else { throw NetworkError(.invalidParameters, "the parameters have no names") }
        return members
    }
}

extension JSONValue {
    fileprivate func pairs(named name: String) -> [(name: String, value: String)] {
        switch self {
        case .null: []
        case .bool, .integer, .unsigned, .number, .string: [(name, scalarText ?? "")]
        case .array(let elements): elements.flatMap { $0.pairs(named: name) }
        case .object(let members):
            members.sorted { $0.key < $1.key }.flatMap { key, value in
                value.pairs(named: name.isEmpty ? key : "\(name)[\(key)]")
            }
        }
    }
}

extension [(name: String, value: String)] {
    fileprivate var encodedAsQuery: String {
        map { "\($0.name.percentEncoded)=\($0.value.percentEncoded)" }.joined(separator: "&")
    }

    fileprivate var encodedAsForm: String {
        map { "\($0.name.formEncoded)=\($0.value.formEncoded)" }.joined(separator: "&")
    }
}

extension Request {
    /// Adds encoded pairs to the query.
    mutating func appendQuery(_ query: String) throws(NetworkError) {
        guard !query.isEmpty else { return }
        var text = url.absoluteString
        if let fragment = text.firstIndex(of: "#") { text.removeSubrange(fragment...) }
        let separator =
            if !text.contains("?") { "?" } else { text.hasSuffix("?") || text.hasSuffix("&") ? "" : "&" }
        guard let url = URL(string: text + separator + query) else {
            throw NetworkError(.invalidURL, "the query cannot be added to the URL", request: self)
        }
        self.url = url
    }

    /// Takes the parameters called `name` out of the query.
    mutating func removeQuery(named name: String) {
        let parts = url.absoluteString.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return }
        let names = [name, name.percentEncoded]
        let pairs = parts[1].prefix { $0 != "#" }.split(separator: "&", omittingEmptySubsequences: false)
        let kept = pairs.filter { pair in !names.contains(String(pair.prefix { $0 != "=" })) }
        guard kept.count < pairs.count else { return }
        url = URL(string: parts[0] + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&"))) ?? url
    }

    fileprivate mutating func setBody(_ bytes: [UInt8], contentType: String) {
        body = .bytes(bytes)
        if headerFields[.contentType] == nil { headerFields[.contentType] = contentType }
    }
}
