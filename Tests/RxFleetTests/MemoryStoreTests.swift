#if Fleet
import FoundationEssentials
import RxFleet
import RxHTTP
import RxLite
import RxTesting
import Testing

/// The store of simulations.
@Suite struct MemoryStoreTests {
    private let clock = VirtualScheduler()
    private let store: MemoryStore

    init() { store = MemoryStore(on: clock, latency: .milliseconds(1)) }

    /// Connections in virtual time.
    private var subject: StoreSubject {
        StoreSubject(
            connect: { store.connection(on: clock, latency: .milliseconds(1)) },
            now: { clock.now },
            pass: { try clock.advance(by: $0) },
            until: { isMet in
                var steps = 0
                while !isMet() {
                    steps += 1
                    try #require(steps < 5000, "no condition takes five seconds")
                    try clock.advance(by: .milliseconds(1))
                }
            },
            stop: { ($0 as? MemoryStore)?.isConnected = false },
            resume: { ($0 as? MemoryStore)?.isConnected = true },
            evict: { store.evict($0) })
    }

    @Test(arguments: SharedStoreContract.allCases)
    func contract(_ check: SharedStoreContract) async throws { try await check.check(subject) }

    /// A message whose reply is lost has been sent.
    @Test func lostReplyOfAMessage() throws {
        let other = store.connection(on: clock)
        let messages = Recorder(other.messages(of: "a"), on: clock)
        store.losesReplies = true
        let sent = Recorder(store.publish([1], to: "a"), on: clock)
        try clock.run()
        #expect(sent.failure?.code == .connectionLost)
        #expect(messages.values == [.connected, .message([1])])
    }

    /// A lease whose reply is lost has been granted: it ends by itself, and grows the fencing number.
    @Test func lostReplyOfALease() throws {
        let other = store.connection(on: clock, latency: .milliseconds(1))
        store.losesReplies = true
        let first = Recorder(store.lease("a", for: .seconds(2)), on: clock)
        try clock.advance(by: .milliseconds(10))
        #expect(first.values.isEmpty && first.failure?.code == .connectionLost)
        store.losesReplies = false
        let second = Recorder(other.lease("a", for: .seconds(2)), on: clock)
        try clock.advance(by: .seconds(1))
        #expect(second.values.isEmpty, "nobody has returned it")
        try clock.advance(by: .seconds(2))
        #expect(second.values == [SharedLease(name: "a", fence: 2)])
    }

    /// A lease that is returned leaves no extension behind, which would keep the store alive with its clock.
    @Test func aReturnedLeaseKeepsNothing() throws {
        weak var gone: MemoryStore?
        do {
            let other = MemoryStore(on: clock)
            gone = other
            let lease = other.lease("a", for: .seconds(9)).subscribe(onFailure: { _ in })
            try clock.advance(by: .seconds(4))
            lease.cancel()
        }
        #expect(gone == nil)
        try clock.advance(by: .seconds(9))
    }
}
#endif
