#if Outbox
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxOutbox
import RxTesting
import Testing

/// Entries of accounts, and logins during their attempts.
@Suite(.timeLimit(.minutes(3))) struct OutboxAccountTests {
    /// The credential of a session, once somebody opens it.
    private struct Vault: CredentialStore {
        let opened = Signal<Void>()
        let credential: Credential

        func load() -> Observable<Credential?, NetworkError> {
            opened.observable.take(1).setFailureType(to: NetworkError.self).map { credential }
        }
        func save(_: Credential?) -> Observable<Void, NetworkError> { .just(()) }
    }

    /// Whose an entry is, and whether it may be sent, is known once the session has loaded its credential.
    @Test func storedAccounts() throws {
        let store = MemoryOutboxStore()
        for isRestart in [false, true] {
            let vault = Vault(credential: Credential(token: "a", account: "anna"))
            let session = Session(store: vault) { .fail(NetworkError(.loginFailed, "as scripted")) }
            let fixture = OutboxFixture(store: store, session: session)
            if !isRestart { fixture.reachability.set(.unreachable) }
            let outbox = try fixture.outbox()
            let added = Recorder(
                outbox.enqueue(PlaceOrder(number: isRestart ? 2 : 1), key: .generated(.stripe)),
                on: fixture.clock)
            try fixture.clock.advance(by: .seconds(10))
            #expect(added.values.isEmpty && fixture.sent.isEmpty)
            vault.opened.send()
            try fixture.clock.advance(by: .seconds(10))
            #expect(added.values.count == 1)
            if isRestart {
                #expect(fixture.sent == [1, 2])
            } else {
                #expect(store.entries.map(\.account) == ["anna"])
            }
        }
    }

    /// A given key is that of an account, also after its entry was delivered.
    @Test func givenKeysOfAccounts() throws {
        let session = Session()
        let fixture = OutboxFixture(session: session)
        let outbox = try fixture.outbox()
        var ids: [OutboxID] = []
        for account in ["anna", "ben", "ben"] {
            session.logIn(with: Credential(token: account, account: account))
            ids.append(try fixture.enqueue(outbox, 1, key: .given("profile-1", .stripe)).id)
            try fixture.clock.advance(by: .seconds(10))
        }
        #expect(ids[0] != ids[1] && ids[1] == ids[2])
        let tokens = fixture.transport.requests.map { $0.headerFields[.authorization] }
        #expect(tokens == ["Bearer anna", "Bearer ben"])
    }

    /// A failed login is no answer to the entry, which waits for the next login.
    @Test(arguments: [400, 401, 500])
    func failedLogins(status: Int) throws {
        let session = Session(credential: Credential(token: "old", account: "anna")) {
            .fail(DeliveryRulesTests.error(status))
        }
        let fixture = OutboxFixture(session: session, [.status(.unauthorized)])
        let outbox = try fixture.outbox()
        let ticket = try fixture.enqueue(outbox, 1)
        let progress = Recorder(ticket.progress, on: fixture.clock)
        try fixture.clock.advance(by: .seconds(1))
        let shown = try #require(progress.values.last.map(text))
        #expect(shown.hasPrefix("waiting: loginFailed"), "\(shown)")
        session.logIn(with: Credential(token: "new", account: "anna"))
        try fixture.clock.advance(by: .seconds(10))
        #expect(fixture.ledger.numbers == [1])
    }

    /// An entry belongs to the account that wrote it, and waits for it.
    @Test func accounts() throws {
        let session = Session()
        session.logIn(with: Credential(token: "a", account: "anna"))
        let fixture = OutboxFixture(session: session)
        let outbox = try fixture.outbox()
        fixture.reachability.set(.unreachable)
        let ticket = try fixture.enqueue(outbox, 1)
        session.logIn(with: Credential(token: "b", account: "ben"))
        fixture.reachability.set(.wifi)
        let progress = Recorder(ticket.progress, on: fixture.clock)
        try fixture.clock.advance(by: .seconds(3600))
        #expect(fixture.sent.isEmpty)
        #expect(progress.values.last.map(text) == "waiting: its account is not logged in")
        session.logIn(with: Credential(token: "c", account: "anna"))
        try fixture.clock.advance(by: .seconds(10))
        #expect(fixture.sent == [1])
        #expect(fixture.transport.requests[0].headerFields[.authorization] == "Bearer c")
    }
}
#endif
