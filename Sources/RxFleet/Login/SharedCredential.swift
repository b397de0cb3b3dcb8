#if Fleet
public import RxClient
public import RxHTTP
public import RxLite
import Synchronization

/// The credential of a fleet: one login for all processes that share a store.
///
/// ```swift
/// let credential = SharedCredential(in: store, key: "shop", sealing: keys)
/// let session = Session(sharing: credential, renewal: { renew($0) }, login: { logIn() })
/// ```
///
/// The credential has a version, which only grows. The process that finds it expired takes a lease, reads the credential
/// again, notes in the store that it is about to send the refresh token, and saves the new credential with the lease's
/// fencing number; the others receive it by push. A process that was stopped and wakes after its lease has ended cannot
/// save any more. If the note is found without a new credential, the response to the renewal has been lost: the refresh
/// token is not sent again, and a new login follows (RFC 9700 §4.14.2).
///
/// In the store the credential is sealed, together with its key. Thread-safe.
public final class SharedCredential: CredentialStore {
    /// The key of the credential in the store.
    public let key: String
    private let store: any SharedStore
    private let keys: SealingKeys
    private let leaseTime: Duration
    private let clock: any Scheduler
    private let signal = Signal<FleetEvent.Login>()
    /// Distinguishes the messages of this process.
    private let writer = RandomSource.number()

    private struct Contents {
        /// The lease that this process was granted last. It stays here when it has ended: the store refuses
        /// it once it has been followed by another.
        var lease: SharedLease?
        /// The entry in the store as it was last read or written; `nil` before.
        var entry: Entry?
        /// The newest version that this process has seen.
        var newest: UInt64 = 0
        /// The credential that this process has got last.
        var gain: Gain?
    }

    /// A credential that the server has given to this process, and what it replaces.
    private struct Gain {
        let token: String
        /// The newest version when this process began to get it.
        let base: UInt64
    }

    private enum Entry {
        case missing
        case record(CredentialRecord, version: UInt64)
        /// Bytes that no version of this library has written; the next save replaces them.
        case corrupt(version: UInt64)
    }

    private let contents = Mutex(Contents())

    /// Creates a credential.
    ///
    /// - Parameters:
    ///   - store: the store that the processes share.
    ///   - key: the name of the login, the same in all processes.
    ///   - keys: the keys that seal the credential in the store.
    ///   - leaseTime: how long a process that stops keeps the others from renewing. Default 10 s. It must be longer than a
    ///     renewal usually takes.
    ///   - clock: the clock for the longest wait for the lease, 30 s. Default: the library's shared clock.
    public init(
        in store: any SharedStore, key: String, sealing keys: SealingKeys, leaseTime: Duration = .seconds(10),
        clock: (any Scheduler)? = nil
    ) {
        self.clock = clock ?? ActorScheduler.shared
        self.store = store
        // All processes, also of other releases, must have the same: the entry, the lease and the channel have this
        // name, and the sealed entry includes it.
        self.key = "login:" + key
        self.keys = keys.derived(for: "login")
        self.leaseTime = leaseTime
    }

    /// The events of the login in this process, from the time of subscription.
    public var events: Observable<FleetEvent.Login, Never> { signal.observable }

    /// The version of the credential that this process has seen last; 0 before the first one.
    public var version: UInt64 { contents.withLock { $0.newest } }

    // MARK: - Reading

    /// The credential of the fleet; `nil` before the first login, and after a logout.
    ///
    /// Fails with `unsealable`, `corruptEntry` or `laterFormat` for other content, with `evicted` if the store has lost the
    /// credential, and with `outdatedEntry` if it has an older one than before.
    public func load() -> Observable<Credential?, NetworkError> {
        read().map { record in record?.credential }
    }

    private func read(repetitions: Int = 2) -> Observable<CredentialRecord?, NetworkError> {
        store.read(key).flatMap(.concat) { [self] entry -> Observable<CredentialRecord?, NetworkError> in
            do throws(NetworkError) {
                return .just(try note(entry))
            } catch {
                // A reply may have been overtaken by a write of this process.
                guard error.code == .outdatedEntry, repetitions > 0 else { return .fail(error) }
                return read(repetitions: repetitions - 1)
            }
        }
    }

    private func note(_ entry: SharedEntry?) throws(NetworkError) -> CredentialRecord? {
        guard let entry else {
            let isLost = contents.withLock { contents in
                contents.entry = .missing
                return contents.newest > 0
            }
            guard isLost else { return nil }
            throw NetworkError(.evicted, "the store has lost the credential \(key): it must not evict it")
        }
        let record: CredentialRecord
        do throws(NetworkError) {
            let plain = try SealedForm.unseal(entry.bytes, as: .credential, at: key, with: keys)
            record = try CredentialRecord(bytes: plain, at: key)
        } catch {
            // What another version or another key has written stays.
            contents.withLock {
                $0.entry = error.code == .corruptEntry ? .corrupt(version: entry.version) : nil
            }
            throw error
        }
        let former = contents.withLock { contents in
            let former = contents.newest
            contents.entry = .record(record, version: entry.version)
            contents.newest = max(former, record.version)
            return former
        }
        guard record.version >= former else {
            throw NetworkError(
                .outdatedEntry,
                "the store has version \(record.version) of the credential \(key), but had \(former)")
        }
        if record.version > former {
            signal.send(
                record.credential == nil
                    ? .loggedOut(version: record.version) : .received(version: record.version))
        }
        return record
    }

    /// The messages of other processes that have saved or erased the credential.
    public func changes() -> Observable<Void, Never> {
        let own = Self.message(of: writer)
        return store.messages(of: key).compactMap { message -> Void? in
            switch message {
            // Messages may have been missed before.
            case .connected: ()
            case .message(own): nil
            case .message: ()
            case .disconnected: nil
            }
        }
    }

    private static func message(of writer: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: writer >> ($0 * 8)) }
    }

    // MARK: - Writing

    /// The lease of the credential, which is extended while this process runs.
    ///
    /// Waits up to 30 s while another process has it, then fails with `locked`.
    public func lease() -> Observable<Void, NetworkError> {
        let granted = store.lease(key, for: leaseTime).handleEvents(onNext: { [weak self] lease in
            self?.contents.withLock { $0.lease = lease }
        })
        let locked = NetworkError(
            .locked, "another process has been renewing the credential \(key) for 30 s")
        return granted.map { _ in }.timeout(.seconds(30), until: .firstValue, on: clock) { locked }
    }

    /// Replaces the credential, under the lease, and tells the other processes.
    ///
    /// Fails with `superseded` if another process has changed it since it was read here, or since this process began to get
    /// the credential that it saves, even if it has read the change and taken the lease again; and with `unsealable` or
    /// `laterFormat`, without a change, if the store has one that this process cannot read.
    public func save(_ credential: Credential?) -> Observable<Void, NetworkError> {
        let gain = contents.withLock { $0.gain }
        // A process that was stopped while the server answered comes late with its credential.
        let base = gain.flatMap { $0.token == credential?.token ? $0.base : nil }
        return write { record, seen in
            if let base, max(record.version, seen) != base { return nil }
            return record.following(with: credential, after: seen)
        }
        .flatMap(.concat) { [self] record -> Observable<Void, NetworkError> in
            if credential != nil { signal.send(.renewed(version: record.version)) }
            // The others find it in any case when they take the lease.
            return Observable<Void, NetworkError>.concat([
                store.publish(Self.message(of: writer), to: key).catch { _ in .just(()) }, .just(()),
            ])
            .take(1)
        }
    }

    /// Replaces the record that was last read by the one that `change` makes of it and the newest version seen.
    private func write(
        _ change: @escaping @Sendable (CredentialRecord, UInt64) -> CredentialRecord?
    ) -> Observable<CredentialRecord, NetworkError> {
        .deferred { [self] in
            guard contents.withLock({ $0.entry }) == nil else { return swap(change) }
            return read().map { _ in }
                .catch { [self] error -> Observable<Void, NetworkError> in
                    // What is lost or corrupt is replaced.
                    contents.withLock({ $0.entry }) == nil ? .fail(error) : .just(())
                }
                .flatMap(.concat) { [self] () -> Observable<CredentialRecord, NetworkError> in
                    swap(change)
                }
        }
    }

    private func swap(
        _ change: @escaping @Sendable (CredentialRecord, UInt64) -> CredentialRecord?, repetitions: Int = 3
    ) -> Observable<CredentialRecord, NetworkError> {
        .deferred { [self] () throws(NetworkError) in
            let (lease, entry, newest) = contents.withLock { ($0.lease, $0.entry ?? .missing, $0.newest) }
            guard let lease else {
                throw NetworkError(.locked, "the credential \(key) is changed under a lease only")
            }
            let (former, expected) =
                switch entry {
                case .record(let record, let version): (record, ExpectedVersion.exactly(version))
                case .corrupt(let version): (CredentialRecord(version: 0), ExpectedVersion.exactly(version))
                case .missing: (CredentialRecord(version: 0), ExpectedVersion.absent)
                }
            guard let record = change(former, newest) else { throw superseded }
            let bytes = try SealedForm.seal(record.bytes(), as: .credential, at: key, with: keys.current)
            return store.swap(key, to: bytes, expecting: expected, under: lease, for: nil)
                .flatMap(.concat) { [self] result -> Observable<CredentialRecord, NetworkError> in
                    guard case .swapped(let version) = result else {
                        signal.send(.superseded)
                        // For the next attempt, under another lease.
                        return read().catch { _ in .just(nil) }
                            .flatMap(.concat) { [self] _ -> Observable<CredentialRecord, NetworkError> in
                                .fail(superseded)
                            }
                    }
                    contents.withLock { contents in
                        contents.entry = .record(record, version: version)
                        contents.newest = max(contents.newest, record.version)
                    }
                    return .just(record)
                }
                .catch { [self] error -> Observable<CredentialRecord, NetworkError> in
                    guard error.code != .superseded, repetitions > 0 else { return .fail(error) }
                    return recover(record, from: error, former: former, change, repetitions - 1)
                }
        }
    }

    /// Finds out whether a write whose reply was lost has taken place, and otherwise repeats it.
    private func recover(
        _ record: CredentialRecord, from error: NetworkError, former: CredentialRecord,
        _ change: @escaping @Sendable (CredentialRecord, UInt64) -> CredentialRecord?, _ repetitions: Int
    ) -> Observable<CredentialRecord, NetworkError> {
        read().flatMap(.concat) { [self] found -> Observable<CredentialRecord, NetworkError> in
            if found == record { return .just(record) }
            return found == former || found == nil
                ? swap(change, repetitions: repetitions) : .fail(superseded)
        }
        .catch { second in .fail(second.code == .superseded ? second : error) }
    }

    /// By this code ``Session`` makes its attempt again, with the credential of the other process.
    private var superseded: NetworkError {
        NetworkError(.superseded, "another process has changed the credential \(key)")
    }

    // MARK: - Renewals

    /// `login`, or another way to get a credential that replaces the one of now.
    func gaining(
        by login: @escaping @Sendable () -> Observable<Credential, NetworkError>
    ) -> Observable<Credential, NetworkError> {
        .deferred { [self] in
            let base = version
            return login().handleEvents(onNext: { [weak self] credential in
                self?.contents.withLock { $0.gain = Gain(token: credential.token, base: base) }
            })
        }
    }

    /// `renewal`, after a note in the store that the refresh token of `credential` is about to be sent.
    ///
    /// Fails with `renewalLost` if there is such a note already: only a new login is safe then.
    func renewing(
        _ credential: Credential, by renewal: @escaping @Sendable () -> Observable<Credential, NetworkError>
    ) -> Observable<Credential, NetworkError> {
        guard let token = credential.refreshToken else { return gaining(by: renewal) }
        let attempt = RandomSource.number()
        return begin(attempt, with: token, of: credential).flatMap(.concat) {
            [self] () -> Observable<Credential, NetworkError> in
            gaining(by: renewal).catch { [self] error -> Observable<Credential, NetworkError> in
                guard case .definite = RenewalOutcome(of: error) else { return .fail(error) }
                let settling = write { record, _ in record.settled(by: attempt) }
                return settling.map { _ in }.catch { _ in .just(()) }
                    .flatMap(.concat) { () -> Observable<Credential, NetworkError> in .fail(error) }
            }
        }
    }

    private func begin(
        _ attempt: UInt64, with token: String, of credential: Credential
    ) -> Observable<Void, NetworkError> {
        let lost = NetworkError(
            .renewalLost,
            "the response to a renewal of the credential \(key) has been lost: a new login follows")
        let found = read().mapError { error in
            // Other processes may have this credential, and what they do with it cannot be read.
            error.code == .unsealable || error.code == .laterFormat ? lost : error
        }
        return found.flatMap(.concat) { [self] found -> Observable<Void, NetworkError> in
            // Of an app that has begun with a credential of its own, the store knows nothing yet.
            let record =
                found
                ?? CredentialRecord(version: contents.withLock { $0.newest } + 1, credential: credential)
            guard record.credential?.refreshToken == token else { return .fail(superseded) }
            switch record.renewal(by: attempt) {
            case .begin(let marked):
                return write { former, _ in former == found ?? former ? marked : nil }.map { _ in }
            case .lost:
                signal.send(.renewalLost(version: record.version))
                return .fail(lost)
            }
        }
    }
}

extension NetworkError.Code {
    /// The store no longer has an entry that it must keep.
    public static let evicted = Self(rawValue: "evicted")
    /// The store has an older entry than this process has seen, as after a failover to a replica.
    public static let outdatedEntry = Self(rawValue: "outdatedEntry")
    /// The response to a renewal has been lost, and the server may have replaced the refresh token.
    public static let renewalLost = Self(rawValue: "renewalLost")
}
#endif
