#if Fleet
import FoundationEssentials
import HTTPTypes
import RxClient
import RxFleet
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

/// One login for the processes that share a store.
@Suite struct SharedLoginTests {
    private let fixture = FleetFixture()
    private var clock: VirtualScheduler { fixture.clock }
    private var server: TokenFamilies { fixture.server }

    /// The first logs in, and the others take its credential from the store.
    @Test func oneLogin() throws {
        let members = try fixture.members(5)
        #expect(server.logins == 1)
        #expect(server.renewals == 0)
        #expect(members.allSatisfy { $0.session.credential?.token == "t1" })
        #expect(Set(members.map(\.credential.version)) == [1])
    }

    /// Of many that find the credential expired, one renews it, and nobody is refused twice.
    @Test func oneRenewal() throws {
        let members = try fixture.members(30)
        for round in 1...5 {
            server.expire()
            let recorders = members.map { fixture.get($0) }
            try clock.run()
            #expect(recorders.allSatisfy { $0.isFinished })
            #expect(server.renewals == round)
            #expect(members.allSatisfy { $0.session.credential?.token == "t\(round + 1)" })
        }
        #expect(server.logins == 1)
        #expect(server.revocations.isEmpty)
    }

    /// A request with a current credential costs no command.
    @Test func noCommand() throws {
        let member = try #require(try fixture.members(1).first)
        let count = member.store.commandCount
        for _ in 0..<100 { fixture.get(member) }
        try clock.run()
        #expect(member.store.commandCount == count)
    }

    /// A renewal whose response is lost is followed by a login, not by a second use of the token.
    @Test func lostReply() throws {
        let members = try fixture.members(3)
        server.expire()
        server.contents.withLock { $0.losesReply = true }
        let first = fixture.get(members[0])
        try clock.run()
        #expect(first.failure?.code == .connectionLost)
        let recorders = members.map { fixture.get($0) }
        try clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        #expect(server.revocations.isEmpty)
        #expect(server.logins == 2)
        #expect(members.flatMap(\.loginEvents.values).filter { $0 == .renewalLost(version: 1) }.count == 1)
    }

    /// After an answer of the server, or if nothing was sent, the refresh token is used again.
    @Test(arguments: [503, 429, 408])
    func definiteFailures(status: Int) throws {
        let members = try fixture.members(2)
        server.expire()
        server.contents.withLock { $0.statuses = [.init(code: status)] }
        let first = fixture.get(members[0])
        try clock.run()
        #expect(first.failure != nil)
        let second = fixture.get(members[1])
        try clock.run()
        #expect(second.isFinished)
        #expect(server.logins == 1)
        #expect(server.renewals == 1)
    }

    /// A process that is gone while it renews costs a login, and nobody waits for long.
    @Test func killed() throws {
        let members = try fixture.members(2)
        server.expire()
        fixture.get(members[0])
        try clock.advance(by: .milliseconds(20))
        #expect(server.renewals == 1)
        // It neither extends its lease nor saves any more.
        members[0].store.isConnected = false
        let second = fixture.get(members[1])
        try clock.advance(by: .seconds(12))
        #expect(second.isFinished)
        #expect(server.logins == 2)
        #expect(server.revocations.isEmpty)
        // It wakes, and takes the credential of the other.
        members[0].store.isConnected = true
        try clock.advance(by: .seconds(1))
        #expect(members[0].session.credential == members[1].session.credential)
    }

    /// A holder that wakes after its lease has ended does not overwrite the newer credential.
    @Test func stopped() throws {
        let members = try fixture.members(2)
        server.expire()
        // The server answers after the lease has ended.
        server.contents.withLock { $0.delay = .seconds(15) }
        fixture.get(members[0])
        try clock.advance(by: .milliseconds(20))
        server.contents.withLock { $0.delay = .milliseconds(50) }
        members[0].store.isConnected = false
        let second = fixture.get(members[1])
        try clock.advance(by: .seconds(14))
        #expect(second.isFinished)
        members[0].store.isConnected = true
        try clock.advance(by: .seconds(5))
        #expect(server.revocations.isEmpty)
        #expect(members.allSatisfy { $0.session.credential?.token == "t3" })
        let later = try fixture.member()
        fixture.get(later)
        try clock.advance(by: .seconds(1))
        #expect(later.session.credential?.token == "t3")
    }

    /// A logout reaches every process, and so does the next login.
    @Test func loggedOut() throws {
        let members = try fixture.members(4)
        members[2].session.logOut()
        try clock.run()
        #expect(members.allSatisfy { $0.session.credential == nil })
        #expect(members[0].eventTexts.last == "loggedOut")
        members[1].session.logIn(with: Credential(token: "t1", refreshToken: "r1"))
        try clock.run()
        #expect(members.allSatisfy { $0.session.credential?.token == "t1" })
    }

    /// A refused login logs all processes out, once the store has been read again.
    @Test func refused() throws {
        let members = try fixture.members(3)
        server.expire()
        server.contents.withLock {
            $0.valid = []
            $0.refusesLogins = true
        }
        let recorder = fixture.get(members[0])
        try clock.run()
        #expect(recorder.failure != nil)
        #expect(members.allSatisfy { $0.session.credential == nil })
    }

    /// A process that starts with a credential of its own shares it.
    @Test func initial() throws {
        server.contents.withLock {
            $0.number = 1
            $0.valid = [1]
        }
        let own = Credential(token: "t1", refreshToken: "r1")
        let members = try (0..<3).map { _ in try fixture.member(initial: own) }
        let recorders = members.map { fixture.get($0) }
        try clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        #expect(server.renewals == 1)
        #expect(server.revocations.isEmpty)
        #expect(server.logins == 0)
    }

    /// A session that is let go ends its subscriptions to the store, and asks the store for nothing more.
    @Test func letGo() throws {
        let store = WatchedStore(fixture.store.connection(on: clock, latency: .milliseconds(1)))
        weak var session: Session?
        weak var credential: SharedCredential?
        do {
            let shared = SharedCredential(in: store, key: "shop", sealing: try .test(), clock: clock)
            let own = Session(sharing: shared, clock: clock, login: { .never() })
            own.restore().subscribe()
            own.logIn(with: Credential(token: "t1", refreshToken: "r1"))
            try clock.run()
            #expect(fixture.store["login:shop"] != nil)
            // The lease for the login has been returned.
            #expect(store.subscriptionCount == 1)
            (session, credential) = (own, shared)
        }
        #expect(session == nil && credential == nil)
        #expect(store.subscriptionCount == 0)
        let count = store.base.commandCount
        fixture.store.publish([0], to: "login:shop").subscribe(onFailure: { Issue.record("\($0)") })
        try clock.run()
        #expect(store.base.commandCount == count)
    }

    // MARK: - A store that cannot be trusted

    /// A process with another key logs in by itself, and leaves the credential of the others.
    @Test func otherKey() throws {
        let members = try fixture.members(2)
        let stored = try #require(fixture.store["login:shop"])
        let stranger = try fixture.member(keys: .test(9))
        let recorder = fixture.get(stranger)
        try clock.run()
        #expect(recorder.isFinished)
        #expect(fixture.store["login:shop"] == stored)
        #expect(members.allSatisfy { $0.session.credential?.token == "t1" })
        #expect(stranger.eventTexts.contains("storageFailed"))
    }

    /// Data of a later version stays.
    @Test(arguments: [true, false])
    func otherContent(isLater: Bool) throws {
        let bytes: [UInt8] = isLater ? Array("RXF".utf8) + [9, 1, 1, 65] : Array("garbage".utf8)
        fixture.store["login:shop"] = bytes
        let member = try fixture.member()
        let recorder = fixture.get(member)
        try clock.run()
        #expect(recorder.isFinished)
        #expect((fixture.store["login:shop"] == bytes) == isLater, "only garbage is replaced")
    }

    /// After an eviction the next renewal is a login, and nobody is logged out before.
    @Test func evicted() throws {
        let members = try fixture.members(3)
        fixture.store.evict("login:shop")
        for member in members { member.store.isConnected = false }
        for member in members { member.store.isConnected = true }
        try clock.run()
        #expect(members.allSatisfy { $0.session.credential?.token == "t1" })
        server.expire()
        let recorders = members.map { fixture.get($0) }
        try clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        #expect(server.logins == 2)
        #expect(Set(members.map { $0.session.credential?.token }).count == 1)
        #expect(Set(members.map(\.credential.version)) == [2])
    }

    /// A store that returns an older credential does not take the fleet back.
    @Test func older() throws {
        let members = try fixture.members(2)
        let former = fixture.store["login:shop"]
        server.expire()
        fixture.get(members[0])
        try clock.run()
        fixture.store["login:shop"] = former
        for member in members {
            member.store.isConnected = false
            member.store.isConnected = true
        }
        try clock.run()
        #expect(members.allSatisfy { $0.session.credential?.token == "t2" })
        #expect(server.revocations.isEmpty)
        server.expire()
        let recorders = members.map { fixture.get($0) }
        try clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        #expect(server.revocations.isEmpty)
        #expect(members.allSatisfy { $0.credential.version == 3 })
    }

    /// A save whose reply is lost has taken place, and counts.
    @Test func lostSave() throws {
        let members = try fixture.members(2)
        server.expire()
        fixture.get(members[0])
        try clock.advance(by: .milliseconds(55))
        members[0].store.losesReplies = true
        try clock.advance(by: .milliseconds(6))
        members[0].store.losesReplies = false
        try clock.run()
        let recorders = members.map { fixture.get($0) }
        try clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        #expect(server.revocations.isEmpty)
    }

    /// A credential that could not be saved is saved when the store is back.
    @Test func savedLater() throws {
        let members = try fixture.members(2)
        server.expire()
        fixture.get(members[0])
        try clock.advance(by: .milliseconds(20))
        #expect(server.renewals == 1)
        members[0].store.isConnected = false
        try clock.advance(by: .milliseconds(100))
        #expect(members[0].session.credential?.token == "t2")
        members[0].store.isConnected = true
        try clock.run()
        #expect(members.allSatisfy { $0.session.credential?.token == "t2" })
        #expect(server.logins == 1)
    }

    /// A login that could not be saved is given up for the credential of another process, and does not hide that its refresh
    /// token may have been sent.
    @Test func outdatedLogin() throws {
        let members = try fixture.members(3)
        members[0].store.isConnected = false
        members[0].session.logIn(with: Credential(token: "own", refreshToken: "own"))
        try clock.run()
        server.expire()
        fixture.get(members[1])
        try clock.run()
        server.expire()
        server.contents.withLock { $0.losesReply = true }
        fixture.get(members[1])
        try clock.run()
        members[0].store.isConnected = true
        try clock.run()
        #expect(members[0].session.credential?.token == "t2")
        let saved = Recorder(members[0].session.flush(), on: clock)
        try clock.run()
        #expect(saved.isFinished)
        let recorders = members.map { fixture.get($0) }
        try clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        #expect(server.revocations.isEmpty)
        #expect(server.logins == 2)
    }

    /// A store that cannot be read at the moment is no reason for a login.
    @Test func unreadable() throws {
        let members = try fixture.members(1)
        server.expire()
        let recorder = fixture.get(members[0])
        // The lease is granted, and the reply to the read is lost.
        try clock.advance(by: .milliseconds(2))
        members[0].store.losesReplies = true
        try clock.advance(by: .milliseconds(5))
        members[0].store.losesReplies = false
        try clock.run()
        #expect(recorder.failure?.code == .connectionLost)
        let later = fixture.get(members[0])
        try clock.run()
        #expect(later.isFinished)
        #expect(server.logins == 1)
        #expect(server.renewals == 1)
    }

    /// Without the store a process uses its credential, and does not renew one that others may be renewing.
    @Test func unreachable() throws {
        let members = try fixture.members(2)
        members[0].store.isConnected = false
        let current = fixture.get(members[0])
        try clock.run()
        #expect(current.isFinished)
        server.expire()
        let expired = fixture.get(members[0])
        let other = fixture.get(members[1])
        try clock.run()
        #expect(expired.failure != nil)
        #expect(other.isFinished)
        members[0].store.isConnected = true
        let later = fixture.get(members[0])
        try clock.run()
        #expect(later.isFinished)
        #expect(server.renewals == 1)
        #expect(server.revocations.isEmpty)
    }

    /// The record of a credential is JSON, and none of it can be read in the store.
    @Test func noSecretIsInTheStore() throws {
        _ = try fixture.members(2)
        #expect(!fixture.store.keys.isEmpty)
        for key in fixture.store.keys {
            let text = String(decoding: fixture.store[key] ?? [], as: UTF8.self)
            // With their quotes, since two bytes appear in random ones now and then.
            for secret in ["\"t1\"", "\"r1\"", "token"] { #expect(!text.contains(secret)) }
        }
    }
}

/// A store that counts the subscriptions to its messages and leases.
private final class WatchedStore: SharedStore {
    let base: MemoryStore
    private let count = Mutex(0)

    init(_ base: MemoryStore) { self.base = base }

    var subscriptionCount: Int { count.withLock { $0 } }

    private func counted<Value, Failure>(_ stream: Observable<Value, Failure>) -> Observable<Value, Failure> {
        stream.handleEvents(onSubscribe: { self.count.withLock { $0 += 1 } })
            .finally { self.count.withLock { $0 -= 1 } }
    }

    func messages(of channel: String) -> Observable<SharedMessage, Never> {
        counted(base.messages(of: channel))
    }

    func lease(_ name: String, for time: Duration) -> Observable<SharedLease, NetworkError> {
        counted(base.lease(name, for: time))
    }

    func read(_ key: String) -> Observable<SharedEntry?, NetworkError> { base.read(key) }

    func swap(
        _ key: String, to bytes: [UInt8]?, expecting expected: ExpectedVersion, under lease: SharedLease?,
        for lifetime: Duration?
    ) -> Observable<SwapResult, NetworkError> {
        base.swap(key, to: bytes, expecting: expected, under: lease, for: lifetime)
    }

    func take(
        _ count: Int, from key: String, _ budget: SharedBudget
    ) -> Observable<BudgetReply, NetworkError> { base.take(count, from: key, budget) }

    func publish(_ message: [UInt8], to channel: String) -> Observable<Void, NetworkError> {
        base.publish(message, to: channel)
    }
}
#endif
