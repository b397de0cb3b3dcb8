import FoundationEssentials
public import RxHTTP
public import RxLite

extension Observable where Element == Response, Failure == NetworkError {
    /// Opens the envelope: success lets the response through with its content marked for decoding, failure
    /// becomes an `envelope` error with the server's code and message.
    ///
    /// A body that is no such envelope fails with `decoding`. Without an envelope everything is let through.
    public func unwrap(_ envelope: Envelope?) -> Observable<Response, NetworkError> {
        guard let envelope else { return self }
        return process { response throws(NetworkError) in try envelope.open(response) }
    }
}

extension Envelope {
    /// Finds code, message and content in one pass over the body. The content is left to whoever decodes it.
    func open(_ response: Response) throws(NetworkError) -> Response {
        let label: Label
        do {
            label = try read(response)
        } catch {
            throw response.decodingError(error)
        }
        guard label.isSuccess else {
            var error = NetworkError(.envelope, label.message, request: response.request)
            error.envelopeCode = label.code
            error.head = response.head
            error.body = response.body
            throw error
        }
        var opened = response
        opened.payloadPath = [payload]
        opened.payloadRange = label.payload
        return opened
    }

    private struct Label {
        let code: String
        let isSuccess: Bool
        /// Read of a failure only.
        let message: String
        let payload: Range<Int>?
    }

    private func read(_ response: Response) throws -> Label {
        guard !response.body.isEmpty else { throw Misfit("the body is empty") }
        var outline = JSONOutline(response.body)
        let found = try outline.values(at: [code], [message], [payload])
        guard let place = found[0] else { throw Misfit("the envelope has no \(code)", at: code) }
        guard let code = try response.scalarText(at: place) else {
            throw Misfit("a code is a number, a Bool or a string", at: self.code)
        }
        let isSuccess = success.includes(code)
        let message = isSuccess ? nil : try found[1].flatMap { try response.scalarText(at: $0) }
        return Label(
            code: code, isSuccess: isSuccess, message: message ?? "", payload: found[2])
    }
}

extension Response {
    /// The string, number or Bool that stands there, as text; `nil` for anything else.
    fileprivate func scalarText(at place: Range<Int>) throws -> String? {
        let literal = body[place]
        if literal.first == UInt8(ascii: "{") || literal.first == UInt8(ascii: "[") { return nil }
        // What a code mostly is; up to 18 digits are in the range of an integer.
        if literal.count <= 18, literal.first != UInt8(ascii: "0"), literal.allSatisfy(\.isDigit) {
            return String(decoding: literal, as: UTF8.self)
        }
        return try decode(JSONValue.self, at: place, with: JSONDecoder()).scalarText
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }
}
