#if Auth
import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

@testable import RxAuth

/// An authorization server and an API, in virtual time. Endpoints answer by closures that a test may replace.
final class AuthorizationServerDouble: Sendable {
    /// A request with the parameters of its form.
    struct Call: Sendable {
        let request: Request
        let parameters: [(name: String, value: String)]

        init(_ request: Request) {
            self.request = request
            var text = ""
            if case .bytes(let bytes) = request.body { text = String(decoding: bytes, as: UTF8.self) }
            parameters = text.split(separator: "&").map { pair in
                let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (sides[0].decodedAsForm, sides.count > 1 ? sides[1].decodedAsForm : "")
            }
        }

        subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

        func all(_ name: String) -> [String] { parameters.filter { $0.name == name }.map(\.value) }

        var path: String { request.url.path() }
        var authorization: String? { request.headerFields[.authorization] }
    }

    typealias Answer = @Sendable (Call) -> ScriptedTransport.Reply

    static let issuer = "https://id.test"

    let clock = VirtualScheduler(startingAt: Date(timeIntervalSince1970: 1_700_000_000))
    private let state = Mutex<(answers: [String: Answer], calls: [Call])>(([:], []))

    /// - Parameter metadata: members that replace or add to those of the metadata; `nil` removes one.
    init(metadata: [String: JSONValue?] = [:]) {
        answer("/.well-known/oauth-authorization-server") { _ in
            .json(Self.metadata(metadata), after: .milliseconds(10))
        }
        answer("/token") { _ in Self.tokens("T1") }
        answer("/api") { _ in .json("1", after: .milliseconds(10)) }
    }

    static func metadata(_ changes: [String: JSONValue?] = [:], issuer: String = issuer) -> String {
        let host = URL(string: issuer).flatMap { Origin($0) }?.host ?? "id.test"
        var members: [String: JSONValue] = ["issuer": .string(issuer)]
        for (name, path) in [
            ("authorization_endpoint", "authorize"), ("token_endpoint", "token"),
            ("device_authorization_endpoint", "device"), ("revocation_endpoint", "revoke"),
            ("introspection_endpoint", "introspect"), ("jwks_uri", "keys"),
        ] {
            members[name] = .string("https://\(host)/\(path)")
        }
        members["code_challenge_methods_supported"] = .array([.string("S256")])
        for (name, value) in changes { members[name] = value }
        return String(decoding: JSONValue.object(members).document, as: UTF8.self)
    }

    static func tokens(
        _ token: String, refresh: String? = nil, expires: Int? = 3600, _ more: [String: JSONValue] = [:]
    ) -> ScriptedTransport.Reply {
        var members: [String: JSONValue] = ["access_token": .string(token), "token_type": .string("Bearer")]
        if let refresh { members["refresh_token"] = .string(refresh) }
        if let expires { members["expires_in"] = .integer(Int64(expires)) }
        for (name, value) in more { members[name] = value }
        return .json(
            String(decoding: JSONValue.object(members).document, as: UTF8.self), after: .milliseconds(20))
    }

    static func refusal(
        _ code: String, status: HTTPResponse.Status = .badRequest, headers: HTTPFields = [:]
    ) -> ScriptedTransport.Reply {
        .json(
            #"{"error":"\#(code)","error_description":"because"}"#, status: status, headers: headers,
            after: .milliseconds(20))
    }

    /// Sets the answer of a path, at any host.
    func answer(_ path: String, _ answer: @escaping Answer) { state.withLock { $0.answers[path] = answer } }

    /// Sets the answer of a path and of all paths below it that have none of their own.
    func answer(under path: String, _ answer: @escaping Answer) {
        self.answer(path, answer)
        self.answer(path + "/", answer)
    }

    /// Sets the answers of a path, in order; the last one repeats.
    func answer(_ path: String, _ replies: ScriptedTransport.Reply...) {
        let script = ScriptedTransport.Script(replies)
        answer(path) { _ in script.next() }
    }

    var calls: [Call] { state.withLock { $0.calls } }
    func calls(_ path: String) -> [Call] { calls.filter { $0.path == path } }

    /// A transport to the server.
    func transport() -> ScriptedTransport {
        ScriptedTransport(on: clock) { [self] request in
            let call = Call(request)
            let answer = state.withLock { state in
                state.calls.append(call)
                let folder = call.path.lastIndex(of: "/").map { String(call.path[...$0]) }
                return state.answers[call.path] ?? folder.flatMap { state.answers[$0] }
            }
            return answer?(call) ?? .status(.notFound, after: .milliseconds(5))
        }
    }

    /// The first value or the error of a stream, after all virtual time that it needs.
    func result<Value>(_ stream: Observable<Value, NetworkError>) throws -> Result<Value, NetworkError> {
        let recorder = Recorder(stream, on: clock)
        try clock.run()
        if let error = recorder.failure { return .failure(error) }
        return .success(try #require(recorder.values.first))
    }

    /// The error of a stream.
    func failure<Value>(
        _ stream: Observable<Value, NetworkError>, location: SourceLocation = #_sourceLocation
    ) throws -> NetworkError {
        switch try result(stream) {
        case .failure(let error): return error
        case .success:
            return try #require(nil as NetworkError?, "the stream succeeded", sourceLocation: location)
        }
    }

    /// A login through this server.
    func login(
        _ grant: OAuth.Grant = .clientCredentials, client: OAuth.Client = .confidential("cli", secret: "s"),
        scopes: [String]? = nil, resources: [String] = [], dpop: DPoP? = nil,
        provider: OAuth.Provider = .discover(issuer)
    ) -> OAuth.Login {
        let login = OAuth.Login(
            provider, client: client, grant: grant, scopes: scopes, resources: resources, dpop: dpop)
        login.transport = transport()
        return login
    }

    /// A client of the API with a session.
    func client(
        _ session: Session, at url: String = "https://api.test",
        _ configure: (inout ClientConfiguration) -> Void = { _ in }
    ) -> Client {
        var configuration = ClientConfiguration()
        configuration.session = session
        configuration.options.retry = .never
        configure(&configuration)
        return Client(baseURL: url, configuration: configuration, transport: transport())
    }
}

/// The parameters of an authorization URL.
struct AuthorizationURL: Sendable {
    let url: URL
    private let parameters: [String: [String]]

    init(_ url: URL) {
        self.url = url
        var found: [String: [String]] = [:]
        for pair in (url.query(percentEncoded: true) ?? "").split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            found[sides[0].decodedAsForm, default: []].append(sides.count > 1 ? sides[1].decodedAsForm : "")
        }
        parameters = found
    }

    subscript(name: String) -> String? { parameters[name]?.first }

    func all(_ name: String) -> [String] { parameters[name] ?? [] }
}

/// A browser that a test drives: it receives authorization URLs, and returns to the app.
final class BrowserDouble: Sendable {
    let redirectURL = "com.example.app:/callback"
    let callbacks = Signal<String>()
    private let opened = Mutex<[AuthorizationURL]>([])
    private let answer: @Sendable (AuthorizationURL) -> String?

    /// - Parameter answer: the query of the redirect; `nil` for none. Default: a code and the state.
    init(
        answer: @escaping @Sendable (AuthorizationURL) -> String? = { "code=C1&state=\($0["state"] ?? "")" }
    ) { self.answer = answer }

    var pages: [AuthorizationURL] { opened.withLock { $0 } }

    /// The grant that uses this browser.
    var grant: OAuth.Grant {
        .authorizationCode(redirect: .url(redirectURL, responses: callbacks.observable)) { [self] url in
            let page = AuthorizationURL(url)
            opened.withLock { $0.append(page) }
            if let query = answer(page) { callbacks.send(redirectURL + "?" + query) }
        }
    }
}

/// Keys that sign ID tokens, and the document of them.
struct IdentityKeys: Sendable {
    let key: MessageSigningKey
    let id: String

    init(_ key: MessageSigningKey = .generatedP256(), id: String = "k1") {
        self.key = key
        self.id = id
    }

    var document: String {
        var members = (key.verifyingKey.publicMembers ?? [:]).mapValues { JSONValue.string($0) }
        members["kid"] = .string(id)
        members["use"] = .string("sig")
        members["alg"] = .string(key.algorithm.tokenName)
        let set = JSONValue.object(["keys": .array([.object(members)])])
        return String(decoding: set.document, as: UTF8.self)
    }

    /// A token of claims at the time of the doubles' clock; `nil` removes a claim.
    func token(
        _ changes: [String: JSONValue?] = [:], issuer: String = AuthorizationServerDouble.issuer
    ) throws -> String {
        var claims: [String: JSONValue] = [
            "iss": .string(issuer), "sub": .string("anna"), "aud": .string("cli"),
            "iat": .integer(1_700_000_000), "exp": .integer(1_700_003_600),
        ]
        for (name, value) in changes { claims[name] = value }
        return try JSONWebToken.signed(claims, by: key, keyID: id)
    }
}

/// Collects values of closures.
final class Notes<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])

    func add(_ value: Value) { values.withLock { $0.append(value) } }
    var all: [Value] { values.withLock { $0 } }
}

extension Result where Failure == NetworkError {
    var error: NetworkError? { if case .failure(let error) = self { error } else { nil } }
}
#endif
