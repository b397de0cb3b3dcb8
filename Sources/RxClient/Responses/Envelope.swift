import FoundationEssentials
public import RxHTTP
import RxJSON
public import RxLite
import RxParameters

/// The wrapper that a service puts around each payload, such as `{"errcode":200,"msg":"ok","data":…}`.
///
/// ```swift
/// Envelope(code: "errcode", message: "msg", payload: "data", success: 200)
/// Envelope(code: "ok", message: "message", payload: "result", success: true)
/// Envelope(
///     code: ["errcode", "code"], message: "error.text", payload: "result.data", success: [0, .range(200...299)],
///     loginExpired: [11010, "TOKEN_GONE"], noContent: 20404, retryLater: 50301, retryDelay: "error.seconds")
/// ```
///
/// A code matches as a number, a Bool or a string. Other keys are ignored.
public struct Envelope: Sendable {
    // Each place is copied to ``lookup``, hence the `didSet`.

    /// The place of the code.
    public var code: Keys { didSet { lookup = paths } }
    /// The place of the server's message.
    public var message: Keys { didSet { lookup = paths } }
    /// The place of the payload; `""` for an envelope whose keys are at the level of the content's keys.
    public var payload: Keys { didSet { lookup = paths } }
    /// The codes that mean success. All other codes are failures.
    public var success: Codes
    /// The failure codes that mean that the login has expired: their errors are of the kind `loginExpired`,
    /// and a session logs in again (`NetworkError.meansExpiredLogin`). Default: no codes.
    public var loginExpired: Codes
    /// The failure codes that mean that there is no content: their errors are of the kind `noContent`.
    /// Default: no codes.
    public var noContent: Codes
    /// The failure codes that ask to send the request again later: their errors are of the kind `retryLater`,
    /// after which retry policies try again if that is safe. Default: no codes.
    public var retryLater: Codes
    /// The place of the number of seconds to wait after such a failure, as a number or string. Default: no
    /// place.
    public var retryDelay: Keys { didSet { lookup = paths } }
    /// No envelope: the body is the content. For an endpoint whose client has an envelope.
    public static let absent: Envelope = {
        var envelope = Envelope()
        envelope.isAbsent = true
        return envelope
    }()
    private(set) var isAbsent = false

    /// All places, in the order of the keys above: computed once, not for each response.
    private(set) var lookup: [[String]] = []

    /// Creates an envelope from its keys and the meaning of its codes.
    public init(
        code: Keys = "code", message: Keys = "message", payload: Keys = "data", success: Codes = 0,
        loginExpired: Codes = [], noContent: Codes = [], retryLater: Codes = [], retryDelay: Keys = []
    ) {
        self.code = code
        self.message = message
        self.payload = payload
        self.success = success
        self.loginExpired = loginExpired
        self.noContent = noContent
        self.retryLater = retryLater
        self.retryDelay = retryDelay
        lookup = paths
    }

    /// In the order in which ``read(_:)`` splits the values found; a further property needs the `didSet`,
    /// too.
    private var paths: [[String]] {
        (code.paths + message.paths + payload.paths + retryDelay.paths).map(\.keys)
    }

    /// The kind of error that the sets above assign to a code; `nil` for none.
    func failure(_ code: String?) -> NetworkError.Code? {
        if loginExpired.includes(code) { return .loginExpired }
        if noContent.includes(code) { return .noContent }
        if retryLater.includes(code) { return .retryLater }
        return nil
    }
}

extension Envelope {
    /// The possible places of a value in an envelope: the first place with a value counts.
    ///
    /// ```swift
    /// let nested: Envelope.Keys = "result.data"
    /// let either: Envelope.Keys = ["errcode", "error.code"]
    /// ```
    public struct Keys: Sendable, Equatable {
        /// The places, in the order of the lookup.
        public var paths: [PayloadPath]

        /// Creates keys from places.
        public init(_ paths: [PayloadPath]) { self.paths = paths }
    }
}

extension Envelope.Keys: ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    /// One place: keys joined by dots.
    public init(stringLiteral text: String) { self.init([PayloadPath(stringLiteral: text)]) }

    /// Several places.
    public init(arrayLiteral paths: PayloadPath...) { self.init(paths) }
}

extension Envelope.Keys: CustomStringConvertible {
    /// The places.
    public var description: String { paths.map(\.description).joined(separator: " or ") }
}

/// A path to a place in a JSON document: the keys from the outermost object on.
///
/// ```swift
/// let count: PayloadPath = "data.count"
/// let odd: PayloadPath = ["data", "count.total"]   // a key with a dot in it
/// let whole: PayloadPath = ""
/// ```
public struct PayloadPath: Sendable, Hashable {
    /// The keys, outermost first; empty for the whole document.
    public var keys: [String]

    /// Creates a path from its keys.
    public init(_ keys: [String]) { self.keys = keys }
}

extension PayloadPath: ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    /// Keys joined by dots; an empty string for the whole document.
    public init(stringLiteral text: String) {
        self.init(text.split(separator: ".", omittingEmptySubsequences: true).map(String.init))
    }

    /// The keys, outermost first.
    public init(arrayLiteral keys: String...) { self.init(keys) }
}

extension PayloadPath: CustomStringConvertible {
    /// The keys joined by dots.
    public var description: String { keys.joined(separator: ".") }
}

extension Envelope {
    /// A set of codes: a number, a string, a Bool, a range, several of them, or a rule.
    ///
    /// ```swift
    /// let success: Envelope.Codes = 200
    /// let several: Envelope.Codes = [0, "OK", .range(200...299)]
    /// ```
    ///
    /// Codes are compared as text, regardless of their JSON type.
    public struct Codes: Sendable {
        /// Whether the set contains a code; `nil` for a missing code.
        let includes: @Sendable (_ code: String?) -> Bool

        /// The codes that match a rule.
        public static func when(_ includes: @escaping @Sendable (_ code: String) -> Bool) -> Codes {
            Codes { $0.map(includes) ?? false }
        }

        /// The whole numbers of a range.
        public static func range(_ range: ClosedRange<Int>) -> Codes {
            when { code in Int(code).map(range.contains) ?? false }
        }

        /// A missing code, or `null`: for servers that send a code only with failures.
        public static let absent = Codes { $0 == nil }
    }
}

extension Envelope.Codes: ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByStringLiteral,
    ExpressibleByArrayLiteral
{
    /// One number.
    public init(integerLiteral value: Int) { self.init(String(value)) }

    /// The code `true` or `false`.
    public init(booleanLiteral value: Bool) { self.init(value ? "true" : "false") }

    /// One string.
    public init(stringLiteral value: String) { self.init(value) }

    /// Any of several codes; an empty list matches no code.
    public init(arrayLiteral codes: Envelope.Codes...) {
        self.init { code in codes.contains { $0.includes(code) } }
    }

    /// One code, as text.
    public init(_ text: String) { self.init { $0 == text } }
}

extension Observable where Element == Response, Failure == NetworkError {
    /// Replaces the content by a part of it, at `path`.
    ///
    /// ```swift
    /// client.get("/goods").unwrap(envelope).part("page.count").decode(Int.self)
    /// ```
    ///
    /// The part is looked up when the content is decoded; a missing part counts as a missing payload.
    public func part(_ path: PayloadPath) -> Observable<Response, NetworkError> {
        guard !path.keys.isEmpty else { return self }
        return map { response in
            var response = response
            response.payloadPath += path.keys
            return response
        }
    }
}

// MARK: - Opening an envelope

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
    /// The response without the envelope.
    func open(_ response: Response) throws(NetworkError) -> Response {
        var opened = response
        try remove(from: &opened)
        return opened
    }

    /// Finds code, message and content in one pass over the body. The content can be decoded without another
    /// pass.
    func remove(from response: inout Response) throws(NetworkError) {
        if response.hasNoContent { return }
        let label: Label
        do {
            label = try read(response)
        } catch {
            throw response.decodingError(error)
        }
        if let failure = label.failure { throw failure.concerning(response) }
        response.payloadPath = label.path
        response.payload = label.payload
        response.serverMessage = label.message
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
    /// Removes and returns the values of some keys.
    fileprivate mutating func split(_ keys: Envelope.Keys) -> ArraySlice {
        let values = prefix(keys.paths.count)
        self = dropFirst(keys.paths.count)
        return values
    }

    /// The first string, number or Bool among the values.
    fileprivate func firstScalar(of response: Response) throws -> String? {
        for part in self {
            if let part, let text = try part.scalarText(in: response.body) { return text }
        }
        return nil
    }
}

extension JSONPart {
    /// The string, number or Bool at this part, as text; `nil` for other values.
    ///
    /// - Parameter body: the document.
    func scalarText(in body: [UInt8]) throws -> String? {
        switch kind {
        case .null, .array, .object, .mixedObject: return nil
        case .true: return "true"
        case .false: return "false"
        case .integer where literal.count <= 18 && body[literal.lowerBound] != UInt8(ascii: "-"):
            // The common case for a code: the literal text.
            return String(decoding: body[literal], as: UTF8.self)
        case .ascii, .plain, .escaped:
            return try JSONDecoder().decode(String.self, quicklyFrom: body, at: self)
        case .integer, .number:
            // Checks the form of the number (RFC 8259 §6).
            _ = try JSONDecoder().decode(Double.self, quicklyFrom: body, at: self)
            return JSONValue(self, in: body)?.scalarText
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
