#if Fleet && Auth
import FoundationEssentials
import HTTPTypes
import RxAuth
import RxClient
import RxFleet
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

/// The login of a fleet at an authorization server: one refresh for all members, and demands of one of them.
@Suite struct SharedOAuthTests {
    private let clock = VirtualScheduler(startingAt: Date(timeIntervalSince1970: 1000))
    private let server = ScopedFamilies()
    private let transport: ScriptedTransport
    private let store: MemoryStore

    init() {
        let clock = clock
        transport = ScriptedTransport(on: clock) { [server] in server.answer($0) }
        store = MemoryStore(on: clock, latency: .milliseconds(1))
    }

    private struct Member {
        let session: Session
        let client: Client
    }

    private func member() throws -> Member {
        let callbacks = Signal<String>()
        let server = server
        let redirect = OAuth.Redirect.url("app:/cb", responses: callbacks.observable)
        let login = OAuth.Login(
            .discover("https://id.test"), client: .public("cli"),
            grant: .authorizationCode(redirect: redirect) { url in
                if let query = server.open(url) { callbacks.send("app:/cb?" + query) }
            }, scopes: ["read"])
        login.transport = transport
        let credential = SharedCredential(
            in: store.connection(on: clock, latency: .milliseconds(1)), key: "shop", sealing: try .test(),
            clock: clock)
        let session = Session(
            sharing: credential, isExpiry: login.isExpiry, isRejection: OAuth.Login.isRejection,
            placement: login.placement, requiresLogin: true, clock: clock, renewal: { login.renew($0) },
            login: { login.logIn() })
        var configuration = ClientConfiguration(baseURL: "https://api.test")
        configuration.options.retry = .never
        configuration.session = session
        return Member(session: session, client: Client(configuration: configuration, transport: transport))
    }

    /// Two members, of which the first has logged in.
    private func members() throws -> (Member, Member) {
        let members = (try member(), try member())
        for member in [members.0, members.1] { #expect(try get(member, "/goods").failure == nil) }
        #expect(server.state.withLock { $0.scopes } == ["read"])
        return members
    }

    @discardableResult
    private func get(_ member: Member, _ path: String) throws -> Recorder<Response, NetworkError> {
        let recorder = start(member, path)
        try clock.run()
        return recorder
    }

    private func start(_ member: Member, _ path: String) -> Recorder<Response, NetworkError> {
        Recorder(member.client.get(path), on: clock)
    }

    /// Both find the token expired at the same time; the refresh token is sent once, and no family is revoked.
    @Test func oneRefresh() throws {
        let (first, second) = try members()
        for round in 1...3 {
            server.expire()
            let recorders = [start(first, "/goods"), start(second, "/goods"), start(first, "/goods")]
            try clock.run()
            #expect(recorders.allSatisfy { $0.isFinished })
            #expect(server.state.withLock { $0.renewals } == round)
            #expect(first.session.credential == second.session.credential)
        }
        server.state.withLock { state in
            #expect(state.revocations.isEmpty && state.scopes == ["read"])
        }
    }

    /// A refresh token that is used a second time revokes the family; the members log in once, not each.
    @Test func revokedFamily() throws {
        let (first, second) = try members()
        // A thief has used the refresh token.
        server.steal()
        let recorders = [start(first, "/goods"), start(second, "/goods")]
        try clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        server.state.withLock { state in
            #expect(state.revocations == [2] && state.scopes == ["read", "read"])
        }
    }

    /// More rights that one member has asked for are those of both, and are asked for once. The demand of the other, which
    /// the new credential has fulfilled, is over: its later renewal is one, not a login.
    @Test func stepUp() throws {
        let (first, second) = try members()
        let recorders = [start(first, "/admin"), start(second, "/admin")]
        try clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        #expect(first.session.credential == second.session.credential)
        #expect(server.state.withLock { $0.scopes } == ["read", "read admin"])
        for round in 1...4 {
            server.expire()
            for member in round.isMultiple(of: 2) ? [first, second] : [second, first] {
                #expect(try get(member, "/admin").failure == nil)
            }
        }
        server.state.withLock { state in
            #expect(state.scopes == ["read", "read admin"])
            #expect(state.renewals == 4 && state.revocations.isEmpty)
        }
    }

    /// A demand that arrives while the other member renews the credential is made again for the new one, which has no more
    /// rights.
    @Test func demandDuringRenewal() throws {
        let (first, second) = try members()
        server.state.withLock { $0.delay = .milliseconds(200) }
        let demanding = start(first, "/admin")
        try clock.advance(by: .milliseconds(5))
        server.state.withLock { $0.delay = .milliseconds(5) }
        server.expire()
        #expect(start(second, "/goods").failure == nil)
        try clock.advance(by: .milliseconds(150))
        #expect(demanding.events.isEmpty && first.session.credential == second.session.credential)
        try clock.run()
        #expect(demanding.isFinished)
        server.state.withLock { state in
            #expect(state.renewals == 1 && state.scopes == ["read", "read admin"])
        }
        server.expire()
        #expect(try get(first, "/admin").failure == nil && get(second, "/admin").failure == nil)
        server.state.withLock { state in
            #expect(state.renewals == 2 && state.scopes.count == 2 && state.revocations.isEmpty)
        }
    }

    /// A renewal that ends before the refresh token is sent costs no login: the next one sends it.
    @Test(
        arguments: [
            .failure(.connectionLost), .failure(.attemptTimeout), .status(.internalServerError),
            .json("[]"), .status(.found, headers: [.location: "https://moved.test"]),
        ] as [ScriptedTransport.Reply])
    func brokenDiscovery(reply: ScriptedTransport.Reply) throws {
        let (first, second) = try members()
        // The metadata of the server are kept for an hour.
        try clock.advance(by: .seconds(4000))
        server.expire()
        server.state.withLock { $0.outage = reply }
        #expect(try get(first, "/goods").failure != nil)
        server.state.withLock { $0.outage = nil }
        #expect(try get(second, "/goods").failure == nil)
        server.state.withLock { state in
            #expect(state.renewals == 1 && state.scopes == ["read"] && state.revocations.isEmpty)
        }
    }

    /// A server that refuses for a while has not replaced the refresh token, even if it refuses with status 200.
    @Test(arguments: [200, 400, 503]) func passingRefusal(status: Int) throws {
        let (first, second) = try members()
        server.expire()
        server.state.withLock { state in
            state.refusal = .json(#"{"error":"temporarily_unavailable"}"#, status: .init(code: status))
        }
        #expect(try get(first, "/goods").failure?.envelopeCode == "temporarily_unavailable")
        #expect(try get(second, "/goods").failure == nil)
        server.state.withLock { state in
            #expect(state.renewals == 1 && state.scopes == ["read"] && state.revocations.isEmpty)
        }
    }

    /// A renewal without an answer costs a login: the server may have replaced the refresh token.
    @Test func lostAnswer() throws {
        let (first, second) = try members()
        server.expire()
        server.state.withLock { $0.losesAnswer = true }
        #expect(try get(first, "/goods").failure?.code == .connectionLost)
        #expect(try get(second, "/goods").failure == nil)
        server.state.withLock { state in
            #expect(state.scopes == ["read", "read"] && state.revocations.isEmpty)
        }
    }

    /// A login for more rights that the user does not finish leaves the refresh token as it was.
    @Test func abandonedStepUp() throws {
        let (first, second) = try members()
        server.state.withLock { $0.isAway = true }
        #expect(try get(first, "/admin").failure?.code == .oauthTimeout)
        server.state.withLock { $0.isAway = false }
        server.expire()
        #expect(try get(second, "/goods").failure == nil)
        server.state.withLock { state in
            #expect(state.renewals == 1 && state.scopes == ["read"] && state.revocations.isEmpty)
        }
    }
}

/// An authorization server whose refresh tokens are valid once, with an API whose path `/admin` needs the scope `admin`.
private final class ScopedFamilies: Sendable {
    struct State {
        var number = 0
        /// The scopes of tokens and codes by their numbers.
        var granted: [Int: String] = [:]
        var valid: Set<Int> = []
        var used: Set<Int> = []
        var accepted: Set<Int> = []
        var renewals = 0
        /// The refresh tokens that were used a second time.
        var revocations: [Int] = []
        /// The scopes of each login.
        var scopes: [String] = []
        var delay = Duration.milliseconds(20)
        /// The answer in place of the metadata; `nil` for the metadata.
        var outage: ScriptedTransport.Reply?
        /// The next answer of the token endpoint, which then does nothing else.
        var refusal: ScriptedTransport.Reply?
        /// Whether the next answer of the token endpoint does not arrive.
        var losesAnswer = false
        /// Whether the user does not come to the browser.
        var isAway = false
    }

    let state = Mutex(State())

    func expire() { state.withLock { $0.accepted = [] } }

    /// Another one uses the refresh token.
    func steal() {
        state.withLock { state in
            state.used.formUnion(state.valid)
            (state.valid, state.accepted) = ([], [])
        }
    }

    /// The user logs in: the query of the redirect.
    func open(_ url: URL) -> String? {
        let pairs = Self.pairs(url.query(percentEncoded: true) ?? "")
        guard let scope = pairs["scope"], let value = pairs["state"] else { return nil }
        return state.withLock { state in
            guard !state.isAway else { return nil }
            let scope = scope.replacing("%20", with: " ").replacing("+", with: " ")
            state.scopes.append(scope)
            state.number += 1
            state.granted[state.number] = scope
            return "code=c\(state.number)&state=\(value)"
        }
    }

    func answer(_ request: Request) -> ScriptedTransport.Reply {
        state.withLock { state in
            switch request.url.path() {
            case "/.well-known/oauth-authorization-server":
                if let outage = state.outage { return outage }
                return .json(
                    #"{"issuer":"https://id.test","authorization_endpoint":"https://id.test/authorize","#
                        + #""token_endpoint":"https://id.test/token","code_challenge_methods_supported":["S256"]}"#
                )
            case "/token":
                var text = ""
                if case .bytes(let bytes) = request.body { text = String(decoding: bytes, as: UTF8.self) }
                if let refusal = state.refusal.take() { return refusal }
                let answer = state.answer(Self.pairs(text))
                guard state.losesAnswer else { return answer }
                state.losesAnswer = false
                return .failure(.connectionLost, after: .milliseconds(20))
            default:
                let number =
                    Int(request.headerFields[.authorization]?.dropFirst("Bearer t".count) ?? "") ?? -1
                let (isAccepted, delay) = (state.accepted.contains(number), state.delay)
                guard isAccepted else { return .status(.unauthorized, after: delay) }
                let isEnough =
                    request.url.path() != "/admin" || state.granted[number]?.contains("admin") == true
                return isEnough
                    ? .json("1", after: delay)
                    : .status(
                        .forbidden,
                        headers: [.wwwAuthenticate: #"Bearer error="insufficient_scope", scope="admin""#],
                        after: delay)
            }
        }
    }

    private static func pairs(_ text: String) -> [String: String] {
        var pairs: [String: String] = [:]
        for item in text.split(separator: "&") {
            let sides = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if sides.count == 2 { pairs[String(sides[0])] = String(sides[1]) }
        }
        return pairs
    }
}

extension ScopedFamilies.State {
    fileprivate mutating func answer(_ form: [String: String]) -> ScriptedTransport.Reply {
        let refusal = ScriptedTransport.Reply.json(#"{"error":"invalid_grant"}"#, status: .badRequest)
        if let code = form["code"].flatMap({ Int($0.dropFirst()) }), let scope = granted[code] {
            return issue(scope)
        }
        guard let old = form["refresh_token"].flatMap({ Int($0.dropFirst()) }) else { return refusal }
        guard valid.remove(old) != nil, let scope = granted[old] else {
            if used.contains(old) {
                revocations.append(old)
                (valid, accepted) = ([], [])
            }
            return refusal
        }
        used.insert(old)
        renewals += 1
        return issue(scope)
    }

    private mutating func issue(_ scope: String) -> ScriptedTransport.Reply {
        number += 1
        granted[number] = scope
        valid.insert(number)
        accepted = [number]
        return .json(
            #"{"access_token":"t\#(number)","token_type":"Bearer","refresh_token":"r\#(number)"}"#,
            after: .milliseconds(20))
    }
}
#endif
