#if Auth
import FoundationEssentials
import HTTPTypes
public import RxHTTP
import RxLite
import RxParameters

/// OAuth 2.0 and OpenID Connect: logins at an authorization server, as sessions of a client.
///
/// ```swift
/// let session = try await OAuth.discover("https://id.example.com")
///     .session(client: .init(id: "cli"), grant: .device { show($0.userCode, $0.verificationURL) })
/// ```
///
/// The rules of RFC 9700 apply, and cannot be disabled: authorization codes are bound by PKCE with S256, responses of
/// the authorization endpoint by `state` and `iss`, servers are reached by https (http at loopback addresses only), and
/// redirects of their endpoints are not followed. There is neither the implicit nor the password grant.
///
/// Errors have the code of a step, such as ``RxHTTP/NetworkError/Code/oauthRefused``, and say what to do. Where a server
/// has refused a request, `envelopeCode` is its error code, such as `invalid_grant`, and `serverMessage` its text. No
/// error contains a token, a code or a secret.
public enum OAuth {
    /// The authorization server with an issuer identifier, whose metadata are fetched when they are needed.
    ///
    /// - Parameter issuer: the issuer identifier, such as `https://id.example.com`. The `issuer` of the metadata must be
    ///   the same, byte by byte (RFC 8414 §3.3).
    public static func discover(_ issuer: String) -> Provider { .discover(issuer) }
}

extension NetworkError.Code {
    /// The metadata of an authorization server or a protected resource cannot be fetched, or must not be used.
    public static let oauthMetadata = NetworkError.Code(rawValue: "oauthMetadata")
    /// An authorization server has refused a request, or the user has; `envelopeCode` is the error code of the server.
    public static let oauthRefused = NetworkError.Code(rawValue: "oauthRefused")
    /// An endpoint of an authorization server has answered with something else than its specification says.
    public static let oauthResponse = NetworkError.Code(rawValue: "oauthResponse")
    /// The response of the authorization endpoint, in the redirect, is not that of the server for this login.
    public static let oauthCallback = NetworkError.Code(rawValue: "oauthCallback")
    /// The listener for the redirect on this machine cannot listen.
    public static let oauthLoopback = NetworkError.Code(rawValue: "oauthLoopback")
    /// The user has not finished a login in time.
    public static let oauthTimeout = NetworkError.Code(rawValue: "oauthTimeout")
    /// An ID token is invalid (OpenID Connect Core §3.1.3.7).
    public static let oauthIDToken = NetworkError.Code(rawValue: "oauthIDToken")
    /// A login that had to keep the user has returned another one.
    public static let oauthAccountChanged = NetworkError.Code(rawValue: "oauthAccountChanged")
}

/// The surroundings of the requests to an authorization server.
struct OAuthContext: Sendable {
    let transport: any Transport

    var scheduler: any Scheduler { transport.scheduler }
    var date: Date { transport.scheduler.currentDate }

    /// The most bytes of a response of any endpoint.
    static let responseLimit = 256 << 10

    /// A response to one request. Redirects are not followed: they would carry codes and secrets elsewhere (RFC 9700
    /// §4.12).
    func response(to request: Request) -> Observable<Response, NetworkError> {
        .deferred { [transport] in transport.send(request).response(to: request) }
    }

    /// A request with the limits of time and size of all requests to an authorization server.
    static func request(_ method: HTTPRequest.Method, _ url: URL, fields: HTTPFields = [:]) -> Request {
        var fields = fields
        fields[.accept] = "application/json"
        return Request(
            method: method, url: url, headerFields: fields,
            timeouts: Timeouts(firstByte: .seconds(30), attempt: .seconds(60)), bodyLimit: responseLimit)
    }

    /// A POST of a form (RFC 6749 Appendix B), all of whose values are secret.
    static func form(_ url: URL, _ parameters: [(name: String, value: String)]) -> Request {
        // Without a charset: the type has no parameters, and some servers accept this text only.
        var request = request(.post, url, fields: [.contentType: "application/x-www-form-urlencoded"])
        request.body = .text(form(parameters))
        request.secretParameters = Set(parameters.map(\.name))
        return request
    }

    /// Parameters in the form of `application/x-www-form-urlencoded`.
    static func form(_ parameters: [(name: String, value: String)]) -> String {
        parameters.map { "\($0.name.formEncoded)=\($0.value.formEncoded)" }.joined(separator: "&")
    }
}

/// Random texts that nobody can guess. A simulation makes them from its seed.
enum OAuthRandom {
    /// The given number of random bytes, in base64url.
    static func text(bytes count: Int = 32) -> String {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let number = RandomSource.number()
            for shift in 0..<8 where bytes.count < count {
                bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * shift)))
            }
        }
        return bytes.base64URLText
    }
}

extension String {
    /// Whether two texts have the same bytes; `==` would equate different spellings of a character.
    func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    /// Whether the text is one or more visible characters of ASCII, as tokens and codes are (RFC 6749 Appendix A).
    var isVisibleASCII: Bool { !isEmpty && utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}

extension Sequence<UInt8> {
    /// Base64 for URLs, without padding (RFC 4648 §5).
    var base64URLText: String {
        String(
            decoding: Data(self).base64EncodedString().utf8.compactMap { byte -> UInt8? in
                switch byte {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                case UInt8(ascii: "="): nil
                default: byte
                }
            }, as: UTF8.self)
    }
}

extension Array<UInt8> {
    /// The bytes of base64url without padding; `nil` for any other text.
    init?(base64URL text: some StringProtocol) {
        var standard: [UInt8] = []
        standard.reserveCapacity(text.utf8.count + 3)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "-"): standard.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): standard.append(UInt8(ascii: "/"))
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: standard.append(byte)
            default: return nil
            }
        }
        guard standard.count % 4 != 1 else { return nil }
        while standard.count % 4 != 0 { standard.append(UInt8(ascii: "=")) }
        guard let data = Data(base64Encoded: String(decoding: standard, as: UTF8.self)) else { return nil }
        self = Array(data)
    }
}

extension JSONValue {
    /// The text of a string; `nil` for other values.
    var text: String? { if case .string(let text) = self { text } else { nil } }

    /// The strings of an array of strings; `nil` for other values.
    var texts: [String]? {
        guard case .array(let elements) = self else { return nil }
        let texts = elements.compactMap(\.text)
        return texts.count == elements.count ? texts : nil
    }

    /// A truth value; `nil` for other values.
    var flag: Bool? { if case .bool(let flag) = self { flag } else { nil } }

    /// A finite number; `nil` for other values.
    var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// A number of seconds that is not negative, also as text, as some servers write it; `nil` for other values.
    var seconds: Double? {
        let value = double ?? text.flatMap { Double($0) }
        return value.flatMap { $0 >= 0 && $0 <= 1e10 ? $0 : nil }
    }

    /// The value in a document; no `nil` is expected, since the tree has no values that JSON cannot write.
    var document: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return (try? encoder.encode(self)).map { Array($0) } ?? []
    }
}
#endif
