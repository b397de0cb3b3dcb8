import FoundationEssentials
public import RxHTTP
public import RxLite

extension Observable where Element == Response, Failure == NetworkError {
    /// Opens the envelope: success lets the response through with its content marked for decoding, failure
    /// becomes an error with the server's code and message: `envelope`, or what the envelope says of that code.
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
        if let failure = label.failure { throw failure.concerning(response) }
        var opened = response
        opened.payloadPath = label.path
        opened.payloadRange = label.payload
        return opened
    }

    private struct Label {
        var failure: NetworkError?
        /// Which of the payload's places is the one, and where that is in the body.
        let path: [String]
        let payload: Range<Int>?
    }

    private func read(_ response: Response) throws -> Label {
        guard !response.body.isEmpty else { throw Misfit("the body is empty") }
        var outline = JSONOutline(response.body)
        var found = try outline.values(at: lookup)[...]
        let codes = found.split(code), messages = found.split(message)
        let payloads = found.split(payload), delays = found.split(retryDelay)

        let code = try codes.firstScalar(of: response)
        if code == nil, !success.includes(nil) || codes.contains(where: { response.isCollection($0) }) {
            throw codes.contains { $0 != nil }
                ? Misfit("a code is a number, a Bool or a string", at: "\(self.code)")
                : Misfit("the envelope has no \(self.code)", at: "\(self.code)")
        }
        let chosen =
            payloads.firstIndex { $0 != nil && !response.isNull($0) } ?? payloads.firstIndex { $0 != nil }
        var label = Label(
            path: payload.paths.isEmpty
                ? [] : payload.paths[(chosen ?? payloads.startIndex) - payloads.startIndex].keys,
            payload: chosen.flatMap { payloads[$0] })
        guard !success.includes(code) else { return label }
        var failure = NetworkError(
            failure(code) ?? .envelope, try messages.firstScalar(of: response) ?? "",
            request: response.request)
        failure.envelopeCode = code
        if failure.code == .retryLater {
            failure.retryDelay = try delays.firstScalar(of: response).flatMap(Duration.init(asked:))
        }
        label.failure = failure
        return label
    }
}

extension ArraySlice<Range<Int>?> {
    /// Takes away the places of some keys.
    fileprivate mutating func split(_ keys: Envelope.Keys) -> ArraySlice {
        let places = prefix(keys.paths.count)
        self = dropFirst(keys.paths.count)
        return places
    }

    /// The first string, number or Bool among the places.
    fileprivate func firstScalar(of response: Response) throws -> String? {
        for place in self {
            if let place, let text = try response.scalarText(at: place) { return text }
        }
        return nil
    }
}

extension Response {
    fileprivate func isCollection(_ place: Range<Int>?) -> Bool {
        guard let place else { return false }
        return body[place].first == UInt8(ascii: "{") || body[place].first == UInt8(ascii: "[")
    }

    fileprivate func isNull(_ place: Range<Int>?) -> Bool {
        place.map { body[$0].first == UInt8(ascii: "n") } ?? false
    }

    /// The string, number or Bool that stands there, as text; `nil` for anything else.
    fileprivate func scalarText(at place: Range<Int>) throws -> String? {
        if isCollection(place) { return nil }
        let literal = body[place]
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

extension Duration {
    /// The seconds that a server asks for; none for what is no number. 68 years at most, which any clock can keep.
    init?(asked text: String) {
        guard let seconds = Double(text), seconds.isFinite else { return nil }
        self = .seconds(min(max(seconds, 0), Double(1 << 31)))
    }
}
