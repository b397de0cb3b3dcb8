import FlyingFox
import FoundationEssentials

/// The envelope of the demo API: `{"errcode":200,"msg":"ok","data":…}`, with another code for each error.
struct Envelope<Payload: Encodable>: Encodable {
    var errcode: Int
    var msg: String
    var data: Payload?
}

/// An error of the API.
struct Refusal: Error {
    var errcode: Int
    var msg: String
    /// The HTTP status; many such APIs send 200 with every error.
    var status = HTTPStatusCode.ok
    var headers = HTTPHeaders()

    static func invalid(_ what: String) -> Refusal { Refusal(errcode: 10400, msg: what) }
    static func notFound(_ what: String) -> Refusal { Refusal(errcode: 10404, msg: what) }
    static let unavailable = Refusal(errcode: 10503, msg: "try again later", status: .serviceUnavailable)
}

extension HTTPResponse {
    static func success(_ payload: some Encodable) throws -> HTTPResponse {
        try json(Envelope(errcode: 200, msg: "ok", data: payload))
    }

    static func refusal(_ refusal: Refusal) throws -> HTTPResponse {
        try json(
            Envelope<String>(errcode: refusal.errcode, msg: refusal.msg), status: refusal.status,
            headers: refusal.headers)
    }

    static func json(
        _ document: some Encodable, status: HTTPStatusCode = .ok, headers: HTTPHeaders = [:]
    ) throws -> HTTPResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var headers = headers
        headers[.contentType] = "application/json"
        return HTTPResponse(statusCode: status, headers: headers, body: try encoder.encode(document))
    }
}

extension HTTPRequest {
    /// A whole number in the query, or `standard` if the item is missing.
    func number(_ name: String, or standard: Int, in range: ClosedRange<Int>) throws(Refusal) -> Int {
        guard let text = query[name] else { return standard }
        guard let number = Int(text), range.contains(number) else {
            throw .invalid("\(name) must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// The JSON body as a `Document`.
    func document<Document: Decodable>(_ type: Document.Type) async throws -> Document {
        let body = try await bodyData
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch {
            throw Refusal(errcode: 10400, msg: "the body is not the expected JSON", status: .badRequest)
        }
    }
}
