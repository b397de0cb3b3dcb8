import FoundationEssentials
import HTTPTypes
import RxCache
import RxClient
import RxCookies
import RxHTTP
import RxLite
import RxTesting
import Synchronization

/// A server that knows one token and hands out the next at `POST /login`.
final class TokenServer: Sendable {
    typealias Reply = ScriptedTransport.Reply

    struct Contents {
        var token = "t0"
        var logins = 0
        /// Responses to logins, in turn; after the last one logins succeed.
        var loginAnswers: [Reply] = []
        /// Responses to other requests, in turn by path, regardless of their token.
        var answers: [String: [Reply]] = [:]
        /// The response time of a path. Default 1 ms.
        var delays: [String: Duration] = [:]
        var refusal = Reply.status(.unauthorized)
    }

    let contents = Mutex(Contents())

    var logins: Int { contents.withLock { $0.logins } }

    func answer(_ request: Request) -> Reply {
        contents.withLock { contents in
            let path = request.url.path
            if path == "/login" {
                contents.logins += 1
                if !contents.loginAnswers.isEmpty { return contents.loginAnswers.removeFirst() }
                contents.token = "t\(contents.logins)"
                return .json(#"{"token": "\#(contents.token)"}"#, after: .milliseconds(10))
            }
            let wait = ScriptedTransport.Step.wait(contents.delays[path] ?? .milliseconds(1))
            if contents.answers[path]?.isEmpty == false, let answer = contents.answers[path]?.removeFirst() {
                return Reply([wait] + answer.steps)
            }
            let isKnown = request.token == contents.token
            let answer = isKnown ? Reply.json(#""\#(path)""#) : contents.refusal
            return Reply([wait] + answer.steps)
        }
    }
}

extension Request {
    /// The token that the request carries, in any placement.
    var token: String? {
        let bearer = headerFields[.authorization]?.split(separator: " ").last.map(String.init)
        let field = HTTPField.Name("X-Token").flatMap { headerFields[$0] }
        let parameter = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems?
            .filter { $0.name == "token" }.compactMap(\.value).joined(separator: "+")
        let pairs = headerFields[.cookie]?.split(separator: "; ") ?? []
        let cookie = pairs.first { $0.hasPrefix("token=") }.map { String($0.dropFirst(6)) }
        var form: String?
        if case .bytes(let bytes) = body {
            form = String(decoding: bytes, as: UTF8.self).split(separator: "&")
                .first { $0.hasPrefix("token=") }.map { String($0.dropFirst(6)) }
        }
        return bearer ?? field ?? (parameter?.isEmpty == false ? parameter : nil) ?? cookie ?? form
    }

    /// `GET /path` and the token.
    var line: String { "\(method.rawValue) \(url.path) \(token ?? "-")" }
}

struct Login: Decodable, Sendable {
    let token: String
}

/// A client with a session, connected to a ``TokenServer``, in virtual time. Its credential is one that the
/// server no longer knows.
struct LoginFixture {
    let clock: VirtualScheduler
    let server = TokenServer()
    let transport: ScriptedTransport
    let session: Session
    let client: Client
    let events: Recorder<Session.Event, Never>

    /// The date when the fixture's clock begins.
    static let start = Date(timeIntervalSince1970: 1000)

    init(
        on clock: VirtualScheduler = VirtualScheduler(startingAt: start),
        credential: Credential? = Credential(token: "old"), store: (any CredentialStore)? = nil,
        envelopeCodes: Set<String> = [], placement: CredentialPlacement = .bearer,
        requiresLogin: Bool = false,
        loginAttemptLimit: Int = 5, loginAttemptWindow: Duration = .seconds(30),
        logsOutAfterSecondRefusal: Bool = false,
        cookies: CookieJar? = nil, cachePolicy: CachePolicy = .never,
        retry: RetryPolicy<NetworkError> = .never, envelope: Envelope? = nil,
        login: (@Sendable (Client) -> Observable<Credential, NetworkError>)? = nil,
        renewal: (@Sendable (Client, Credential) -> Observable<Credential, NetworkError>)? = nil,
        configure: (inout ClientConfiguration) -> Void = { _ in }
    ) {
        self.clock = clock
        transport = ScriptedTransport(on: clock) { [server] in server.answer($0) }
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.retry = .never
        let plain = Client(configuration: configuration, transport: transport)
        let login = login ?? { client in Self.logIn(client) }
        let renewing = renewal.map { renewal in
            { @Sendable (credential: Credential) in renewal(plain, credential) }
        }
        session = Session(
            credential: credential, store: store,
            isExpiry: { $0.meansExpiredLogin(envelopeCodes: envelopeCodes) }, placement: placement,
            requiresLogin: requiresLogin, loginAttemptLimit: loginAttemptLimit,
            loginAttemptWindow: loginAttemptWindow,
            logsOutAfterSecondRefusal: logsOutAfterSecondRefusal,
            renewal: renewing, login: { login(plain) })
        configuration.session = session
        configuration.options.retry = retry
        configuration.options.envelope = envelope
        configuration.cookies = cookies
        configuration.options.cachePolicy = cachePolicy
        configure(&configuration)
        client = Client(configuration: configuration, transport: transport)
        events = Recorder(session.events, on: clock)
    }

    @Sendable
    static func logIn(_ client: Client) -> Observable<Credential, NetworkError> {
        client.post("/login").decode(Login.self).map { Credential(token: $0.token) }
    }

    func get(_ path: String) -> Recorder<String, NetworkError> {
        Recorder(client.get(path).map(\.text), on: clock)
    }

    var lines: [String] { transport.requests.map(\.line) }

    var eventTexts: [String] {
        events.values.map { event in
            switch event {
            case .loggedIn: "logged in"
            case .renewed: "renewed"
            case .loggedOut(let error): "logged out \(error?.code.rawValue ?? "by hand")"
            case .storageFailed(let error): "not saved: \(error.message)"
            }
        }
    }
}

/// A value that is set after the object that needs it.
final class Box<Value: Sendable>: Sendable {
    private let contents = Mutex<Value?>(nil)

    var value: Value? {
        get { contents.withLock { $0 } }
        set { contents.withLock { $0 = newValue } }
    }
}
