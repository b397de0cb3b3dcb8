import FoundationEssentials
public import RxHTTP
import RxJSON
public import RxLite
import RxParameters

extension Observable where Element == Response, Failure == NetworkError {
    /// Opens the envelope. A success passes the response on, with its content marked for decoding. A failure
    /// becomes an error with the server's code and message, of the kind `envelope` or the kind that the
    /// envelope assigns to the code.
    ///
    /// A body without this envelope fails with `decoding`. Without an envelope every response is passed on,
    /// and so is a 204 or 205, whose body is empty.
    public func unwrap(_ envelope: Envelope?) -> Observable<Response, NetworkError> {
        guard let envelope else { return self }
        return process { response throws(NetworkError) in try envelope.open(response) }
    }
}

extension Envelope {
    /// Finds code, message and content in one pass over the body. The content can be decoded without another
    /// pass.
    func open(_ response: Response) throws(NetworkError) -> Response {
        if response.hasNoContent { return response }
        let label: Label
        do {
            label = try read(response)
        } catch {
            throw response.decodingError(error)
        }
        if let failure = label.failure { throw failure.concerning(response) }
        var opened = response
        opened.payloadPath = label.path
        opened.payload = label.payload
        opened.serverMessage = label.message
        return opened
    }

    private struct Label {
        var failure: NetworkError?
        /// The payload's place that has the content, and its location in the body.
        let path: [String]
        let payload: JSONPart?
        /// The server's message, if it is a string, number or Bool.
        let message: JSONPart?
    }

    private func read(_ response: Response) throws -> Label {
        guard !response.body.isEmpty else { throw Misfit("the body is empty") }
        let tape = try JSONPart(wholeOf: response.body).tape
        var found = tape.values(at: lookup, in: response.body).map { $0.map { JSONPart(tape, at: $0) } }[...]
        let codes = found.split(code), messages = found.split(message)
        let payloads = found.split(payload), delays = found.split(retryDelay)

        let code = try codes.firstScalar(of: response)
        if code == nil, !success.includes(nil) || codes.contains(where: { $0?.kind.isCollection == true }) {
            throw codes.contains { $0 != nil }
                ? Misfit("the code is not a number, a Bool or a string", at: "\(self.code)")
                : Misfit("the envelope has no \(self.code)", at: "\(self.code)")
        }
        let chosen =
            payloads.firstIndex { $0 != nil && $0?.kind != .null } ?? payloads.firstIndex { $0 != nil }
        var label = Label(
            path: payload.paths.isEmpty
                ? [] : payload.paths[(chosen ?? payloads.startIndex) - payloads.startIndex].keys,
            payload: chosen.flatMap { payloads[$0] },
            message: messages.first { $0.map { !$0.kind.isCollection && $0.kind != .null } ?? false } ?? nil)
        guard !success.includes(code) else { return label }
        let message = try messages.firstScalar(of: response)
        var failure = NetworkError(failure(code) ?? .envelope, message ?? "", request: response.request)
        failure.serverMessage = message
        failure.envelopeCode = code
        if failure.code == .retryLater {
            failure.retryDelay = try delays.firstScalar(of: response).flatMap(Duration.init(asked:))
        }
        label.failure = failure
        return label
    }
}

extension ArraySlice<JSONPart?> {
    /// Removes and returns the places of some keys.
    fileprivate mutating func split(_ keys: Envelope.Keys) -> ArraySlice {
        let places = prefix(keys.paths.count)
        self = dropFirst(keys.paths.count)
        return places
    }

    /// The first string, number or Bool at the places.
    fileprivate func firstScalar(of response: Response) throws -> String? {
        for place in self {
            if let place, let text = try response.scalarText(at: place) { return text }
        }
        return nil
    }
}

extension Response {
    /// The string, number or Bool at this place, as text; `nil` for other values.
    func scalarText(at part: JSONPart) throws -> String? {
        switch part.kind {
        case .null, .array, .object, .mixedObject: return nil
        case .true: return "true"
        case .false: return "false"
        case .integer where part.literal.count <= 18 && body[part.literal.lowerBound] != UInt8(ascii: "-"):
            // The common case for a code: the literal text.
            return String(decoding: body[part.literal], as: UTF8.self)
        case .ascii, .plain, .escaped:
            return try JSONDecoder().decode(String.self, quicklyFrom: body, at: part)
        case .integer, .number:
            // Checks the form of the number (RFC 8259 §6).
            _ = try JSONDecoder().decode(Double.self, quicklyFrom: body, at: part)
            return JSONValue(part, in: body)?.scalarText
        }
    }
}

extension Duration {
    /// The number of seconds that a server asks for; `nil` if the text is not a number. At most 68 years,
    /// which every clock can represent.
    init?(asked text: String) {
        guard let seconds = Double(text), seconds.isFinite else { return nil }
        self = .seconds(min(max(seconds, 0), Double(1 << 31)))
    }
}
