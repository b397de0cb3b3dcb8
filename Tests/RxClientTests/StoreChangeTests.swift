import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxParameters
import RxTesting
import Synchronization
import Testing

@testable import RxClient
@testable import RxLite

/// Sessions whose store tells them of each other's changes, and refuses those of a lease that is over.
@Suite struct StoreChangeTests {
    /// The credential that several stores share, like those of several processes.
    private final class Shelf: Sendable {
        struct Contents {
            var credential: Credential?
            var loads = 0
            var saves = 0
            /// The stores that have the lease or wait for it, the holder first.
            var queue: [(number: Int, grant: Emitter<Void, NetworkError>)] = []
            var count = 0
            /// The number of the lease that may write; others are superseded.
            var valid: Int?
            /// The number of sessions that are told of changes.
            var listeners = 0
        }

        let contents = Mutex(Contents())
        let changed = Signal<Int>()

        var loads: Int { contents.withLock { $0.loads } }

        func leave(_ number: Int) {
            let next = contents.withLock { contents -> Emitter<Void, NetworkError>? in
                let wasHolder = contents.queue.first?.number == number
                contents.queue.removeAll { $0.number == number }
                guard wasHolder, let next = contents.queue.first else { return nil }
                contents.valid = next.number
                return next.grant
            }
            next?.send(())
        }

        /// Ends the lease of the holder, as if it had stopped, and gives it to the next.
        func supersede() {
            guard let holder = contents.withLock({ $0.queue.first?.number }) else { return }
            leave(holder)
            contents.withLock { if $0.valid == holder { $0.valid = nil } }
        }
    }

    private final class Store: CredentialStore {
        let shelf: Shelf
        let id: Int
        let clock: VirtualScheduler
        let holding = Mutex<Int?>(nil)

        init(_ shelf: Shelf, _ id: Int, on clock: VirtualScheduler) {
            self.shelf = shelf
            self.id = id
            self.clock = clock
        }

        private func late<Value>(
            _ work: @escaping @Sendable () throws(NetworkError) -> Value
        ) -> Observable<Value, NetworkError> {
            Observable<Void, Never>.timer(.milliseconds(1), on: clock).setFailureType(to: NetworkError.self)
                .map { () throws(NetworkError) in try work() }
        }

        func load() -> Observable<Credential?, NetworkError> {
            late {
                self.shelf.contents.withLock { contents in
                    contents.loads += 1
                    return contents.credential
                }
            }
        }

        func save(_ credential: Credential?) -> Observable<Void, NetworkError> {
            late { () throws(NetworkError) in
                let own = self.holding.withLock { $0 }
                let isSaved = self.shelf.contents.withLock { contents in
                    guard own != nil, contents.valid == own else { return false }
                    contents.saves += 1
                    contents.credential = credential
                    return true
                }
                guard isSaved else { throw NetworkError(.superseded, "the lease is over") }
                self.shelf.changed.send(self.id)
            }
        }

        func lease() -> Observable<Void, NetworkError> {
            .create { emitter in
                let (number, isFirst) = self.shelf.contents.withLock { contents in
                    contents.count += 1
                    contents.queue.append((contents.count, emitter))
                    if contents.queue.count == 1 { contents.valid = contents.count }
                    return (contents.count, contents.queue.count == 1)
                }
                self.holding.withLock { $0 = number }
                emitter.onClose { self.shelf.leave(number) }
                if isFirst { emitter.send(()) }
            }
        }

        func changes() -> Observable<Void, Never> {
            shelf.changed.observable
                .handleEvents(onSubscribe: { [shelf] in shelf.contents.withLock { $0.listeners += 1 } })
                .finally { [shelf] in shelf.contents.withLock { $0.listeners -= 1 } }
                .filter { [id] in $0 != id }.map { _ in }.delay(.milliseconds(1), on: clock)
        }
    }

    /// Refresh tokens that are valid once, as a server keeps them.
    private final class Family: Sendable {
        struct Contents {
            var number = 0
            var isValid = true
            var sent: [String] = []
            var logins = 0
            var tokens: [String] = []
        }

        let contents = Mutex(Contents())

        func answer(_ request: Request) -> ScriptedTransport.Reply {
            contents.withLock { contents in
                switch request.url.path {
                case "/token":
                    let token = request.body.text.split(separator: "=").last.map(String.init) ?? "-"
                    contents.sent.append(token)
                    guard token == "r\(contents.number)" else { return .status(.badRequest) }
                case "/login": contents.logins += 1
                default:
                    let token = request.headerFields[.authorization]?.split(separator: " ").last ?? "-"
                    contents.tokens.append(String(token))
                    return contents.isValid && token == "t\(contents.number)"
                        ? .json("1") : .status(.unauthorized)
                }
                contents.number += 1
                contents.isValid = true
                let number = contents.number
                return .json(#"{"token": "t\#(number)", "refresh": "r\#(number)"}"#, after: .milliseconds(50))
            }
        }
    }

    private struct Tokens: Decodable, Sendable {
        let token: String
        let refresh: String?
    }

    private struct Participant {
        let client: Client
        let session: Session
        let events: Recorder<Session.Event, Never>

        var eventTexts: [String] { events.values.map { "\($0)".prefix { $0 != "(" }.description } }
    }

    private let clock = VirtualScheduler(startingAt: Date(timeIntervalSince1970: 1000))
    private let shelf = Shelf()
    private let server = Family()
    private let transport: ScriptedTransport

    init() {
        transport = ScriptedTransport(on: clock) { [server] in server.answer($0) }
        shelf.contents.withLock { $0.credential = Credential(token: "t0", refreshToken: "r0") }
    }

    private func participants(_ count: Int) throws -> [Participant] {
        let participants = (0..<count).map { number in
            var configuration = ClientConfiguration(baseURL: "https://shop.test")
            configuration.options.retry = .never
            let plain = Client(configuration: configuration, transport: transport)
            let session = Session(
                store: Store(shelf, number, on: clock),
                renewal: { @Sendable (credential: Credential) in
                    plain.post("/token", .form(["refresh_token": credential.refreshToken ?? ""]))
                        .decode(Tokens.self).map { Credential(token: $0.token, refreshToken: $0.refresh) }
                },
                login: {
                    plain.post("/login").decode(Tokens.self)
                        .map { Credential(token: $0.token, refreshToken: $0.refresh) }
                })
            configuration.session = session
            return Participant(
                client: Client(configuration: configuration, transport: transport), session: session,
                events: Recorder(session.events, on: clock))
        }
        for participant in participants { get(participant) }
        try clock.run()
        return participants
    }

    @discardableResult private func get(_ participant: Participant) -> Recorder<Response, NetworkError> {
        Recorder(participant.client.get("/goods"), on: clock)
    }

    private func expire() { server.contents.withLock { $0.isValid = false } }

    /// A renewal reaches the others without a request, and each reads the store once for it.
    @Test func pushed() throws {
        let participants = try participants(20)
        expire()
        let loads = shelf.loads
        get(participants[0])
        try clock.run()
        #expect(participants.allSatisfy { $0.session.credential?.token == "t1" })
        #expect(participants.allSatisfy { $0.eventTexts == ["renewed"] })
        // One for the check under the lease.
        #expect(shelf.loads - loads == 20)
        #expect(server.contents.withLock { $0.sent } == ["r0"])
    }

    /// All find the credential expired: one renews, and the others do not wait for the lease.
    @Test func together() throws {
        let participants = try participants(20)
        expire()
        let recorders = participants.map { get($0) }
        try clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        #expect(server.contents.withLock { $0.sent } == ["r0"])
        #expect(participants.allSatisfy { $0.eventTexts == ["renewed"] })
        #expect(clock.now < .milliseconds(120), "\(clock.now)")
        #expect(shelf.contents.withLock { $0.queue.isEmpty })
    }

    /// A logout reaches the others, and their waiting requests fail.
    @Test func loggedOut() throws {
        let participants = try participants(3)
        participants[0].session.logOut()
        try clock.run()
        #expect(participants.allSatisfy { $0.session.credential == nil })
        #expect(participants.map(\.eventTexts) == Array(repeating: ["loggedOut"], count: 3))
        participants[1].session.logIn(with: Credential(token: "t0"))
        try clock.run()
        #expect(participants.allSatisfy { $0.session.credential?.token == "t0" })
        #expect(participants.map { $0.eventTexts.last } == Array(repeating: "loggedIn", count: 3))
    }

    /// The holder of a lease that has ended does not overwrite the credential of the next.
    @Test func superseded() throws {
        let participants = try participants(2)
        expire()
        let first = get(participants[0])
        // The first has sent its refresh token, and waits for the response.
        try clock.advance(by: .milliseconds(10))
        #expect(server.contents.withLock { $0.sent } == ["r0"])
        shelf.supersede()
        participants[1].session.logIn(with: Credential(token: "t1", refreshToken: "r1"))
        try clock.run()
        #expect(first.isFinished)
        #expect(participants.allSatisfy { $0.session.credential?.token == "t1" })
        #expect(shelf.contents.withLock { $0.credential?.token } == "t1")
        #expect(server.contents.withLock { $0.sent } == ["r0"])
    }

    /// A renewal whose lease has ended is made again under another one.
    @Test func supersededAlone() throws {
        let participants = try participants(1)
        expire()
        let recorder = get(participants[0])
        try clock.advance(by: .milliseconds(10))
        shelf.supersede()
        try clock.run()
        // The server has rotated the token, and the store did not take the new one: only a login is left.
        #expect(recorder.isFinished)
        #expect(server.contents.withLock { $0.sent } == ["r0", "r0"])
        #expect(server.contents.withLock { $0.logins } == 1)
    }

    /// A logout is repeated if its lease has ended meanwhile.
    @Test func insistent() throws {
        let participants = try participants(2)
        participants[0].session.logOut()
        shelf.supersede()
        try clock.run()
        #expect(participants.allSatisfy { $0.session.credential == nil })
        #expect(shelf.contents.withLock { $0.credential } == nil)
    }

    /// No request carries a token older than the newest that its process has seen.
    @Test func order() throws {
        let participants = try participants(5)
        for round in 0..<4 {
            expire()
            for (index, participant) in participants.enumerated() where index != round { get(participant) }
            try clock.advance(by: .milliseconds(7 * (round + 1)))
        }
        try clock.run()
        let numbers = server.contents.withLock { $0.tokens }.compactMap { Int($0.dropFirst()) }
        let newest = try #require(numbers.max())
        #expect(participants.allSatisfy { $0.session.credential?.token == "t\(newest)" })
        #expect(Set(server.contents.withLock { $0.sent }).count == server.contents.withLock { $0.sent.count })
    }

    /// A session that is released is not kept by the store, and leaves nobody behind who listens, neither to the store nor
    /// to its own news of it.
    @Test func released() throws {
        weak var session: Session?
        weak var news: AnyObject?
        do {
            let participants = try participants(1)
            session = participants[0].session
            news = participants[0].session.stored?.changed.multicaster
            #expect(shelf.contents.withLock { $0.listeners } == 1 && news != nil)
        }
        #expect(session == nil)
        #expect(shelf.contents.withLock { $0.listeners } == 0)
        #expect(news == nil)
        let loads = shelf.loads
        shelf.changed.send(9)
        try clock.run()
        #expect(shelf.loads == loads)
    }
}

extension Body {
    /// The bytes as text; empty for a streamed body.
    fileprivate var text: String {
        if case .bytes(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { "" }
    }
}
