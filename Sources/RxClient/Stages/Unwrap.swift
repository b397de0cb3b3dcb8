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
    func open(_ response: Response) throws(NetworkError) -> Response {
        var header = response
        header.payloadPath = []
        header.decoder = JSONDecoder()
        header.decoder.userInfo[.envelope] = self
        let label = try header.decode(Label.self)
        guard success.includes(label.code) else {
            var error = NetworkError(.envelope, label.message, request: response.request)
            error.envelopeCode = label.code
            error.head = response.head
            error.body = response.body
            throw error
        }
        var opened = response
        opened.payloadPath = [payload]
        return opened
    }
}

/// Code and message of an envelope.
private struct Label: Decodable {
    let code: String
    let message: String

    init(from decoder: any Decoder) throws {
        guard let envelope = decoder.userInfo[.envelope] as? Envelope else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "decoded without its envelope"))
        }
        let container = try decoder.container(keyedBy: AnyCodingKey.self)
        let codeKey = AnyCodingKey(envelope.code)
        guard let code = try container.decode(JSONValue.self, forKey: codeKey).scalarText else {
            throw DecodingError.typeMismatch(
                String.self,
                .init(codingPath: [codeKey], debugDescription: "a code is a number, a Bool or a string"))
        }
        self.code = code
        message =
            try container.decodeIfPresent(JSONValue.self, forKey: AnyCodingKey(envelope.message))?.scalarText
            ?? ""
    }
}

extension CodingUserInfoKey {
    fileprivate static let envelope = CodingUserInfoKey(rawValue: "RxClient.envelope")!
}
