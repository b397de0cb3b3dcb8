#if Fleet
import FoundationEssentials
import HTTPTypes
import RxClient
import RxFleet
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

extension SealingKeys {
    /// Keys that repeat one byte.
    static func test(_ byte: UInt8 = 7, id: String = "test") throws -> SealingKeys {
        SealingKeys(try SealingKey(id: id, bytes: Array(repeating: byte, count: 32)))
    }
}

/// An authorization server whose refresh tokens are valid once; a second use revokes the login (RFC 9700 §4.14.2).
final class TokenFamilies: Sendable {
    struct Contents {
        /// The number of the last token.
        var number = 0
        /// The numbers of valid refresh tokens, and of those used already.
        var valid: Set<Int> = []
        var used: Set<Int> = []
        /// The access tokens that are accepted.
        var accepted: Set<Int> = []
        var renewals = 0
        var logins = 0
        /// The refresh tokens used a second time.
        var revocations: [Int] = []
        /// The numbers of the tokens in requests.
        var sent: [Int] = []
        /// Statuses for the next requests to `/token`.
        var statuses: [HTTPResponse.Status] = []
        var refusesLogins = false
        /// How long a token request takes.
        var delay = Duration.milliseconds(50)
        /// Whether the next response to `/token` is lost.
        var losesReply = false
    }

    let contents = Mutex(Contents())

    var renewals: Int { contents.withLock { $0.renewals } }
    var logins: Int { contents.withLock { $0.logins } }
    var revocations: [Int] { contents.withLock { $0.revocations } }

    func expire() { contents.withLock { $0.accepted = [] } }

    func answer(_ request: Request) -> ScriptedTransport.Reply {
        contents.withLock { contents in
            switch request.url.path {
            case "/token":
                guard contents.statuses.isEmpty else { return .status(contents.statuses.removeFirst()) }
                var text = ""
                if case .bytes(let bytes) = request.body { text = String(decoding: bytes, as: UTF8.self) }
                guard let number = Int(text.drop { $0 != "r" }.dropFirst("refresh_token=r".count)) else {
                    return .status(.badRequest)
                }
                guard contents.valid.contains(number) else {
                    if contents.used.contains(number) {
                        contents.revocations.append(number)
                        (contents.valid, contents.accepted) = ([], [])
                    }
                    return .status(.badRequest)
                }
                contents.valid.remove(number)
                contents.used.insert(number)
                contents.renewals += 1
                let reply = contents.issue()
                guard contents.losesReply else { return reply }
                contents.losesReply = false
                return .failure(.connectionLost, after: contents.delay)
            case "/login":
                guard !contents.refusesLogins else { return .status(.forbidden) }
                contents.logins += 1
                return contents.issue()
            default:
                let token = request.headerFields[.authorization]?.split(separator: " ").last ?? "-"
                let number = Int(token.dropFirst()) ?? -1
                contents.sent.append(number)
                return contents.accepted.contains(number) ? .json("1") : .status(.unauthorized)
            }
        }
    }
}

extension TokenFamilies.Contents {
    fileprivate mutating func issue() -> ScriptedTransport.Reply {
        number += 1
        valid.insert(number)
        accepted = [number]
        return .json(#"{"token": "t\#(number)", "refresh": "r\#(number)"}"#, after: delay)
    }
}

/// Processes that share a store, in virtual time.
struct FleetFixture {
    let clock = VirtualScheduler(startingAt: Date(timeIntervalSince1970: 1000))
    let server = TokenFamilies()
    let transport: ScriptedTransport
    let store: MemoryStore

    struct Member {
        let store: MemoryStore
        let credential: SharedCredential
        let session: Session
        let client: Client
        let events: Recorder<Session.Event, Never>
        let loginEvents: Recorder<FleetEvent.Login, Never>

        var eventTexts: [String] { events.values.map { "\($0)".prefix { $0 != "(" }.description } }
    }

    private struct Tokens: Decodable, Sendable {
        let token: String
        let refresh: String?
    }

    init() {
        transport = ScriptedTransport(on: clock) { [server] in server.answer($0) }
        store = MemoryStore(on: clock, latency: .milliseconds(1))
    }

    func member(
        keys: SealingKeys? = nil, over connection: MemoryStore? = nil, initial: Credential? = nil
    ) throws -> Member {
        let store = connection ?? store.connection(on: clock, latency: .milliseconds(1))
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.retry = .never
        let plain = Client(configuration: configuration, transport: transport)
        let credential = SharedCredential(
            in: store, key: "shop", sealing: try keys ?? .test(), clock: clock)
        let session = Session(
            sharing: credential, initial: initial,
            renewal: { @Sendable current in
                plain.post("/token", .form(["refresh_token": current.refreshToken ?? ""]))
                    .decode(Tokens.self).map { Credential(token: $0.token, refreshToken: $0.refresh) }
            },
            login: {
                plain.post("/login").decode(Tokens.self)
                    .map { Credential(token: $0.token, refreshToken: $0.refresh) }
            })
        configuration.session = session
        return Member(
            store: store, credential: credential, session: session,
            client: Client(configuration: configuration, transport: transport),
            events: Recorder(session.events, on: clock),
            loginEvents: Recorder(credential.events, on: clock))
    }

    /// Members of which one has logged in, and that have all sent a request.
    func members(_ count: Int) throws -> [Member] {
        let members = try (0..<count).map { _ in try member() }
        for member in members {
            get(member)
            try clock.run()
        }
        return members
    }

    @discardableResult func get(_ member: Member) -> Recorder<Response, NetworkError> {
        Recorder(member.client.get("/goods"), on: clock)
    }
}
#endif
