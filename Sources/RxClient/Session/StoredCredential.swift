import RxHTTP
import RxLite
import Synchronization

/// A session's credential in its store: loaded once, and saved in the order of the changes. Of the waiting
/// changes only the newest is saved.
///
/// Other sessions may use the same store. So every change is made under the store's lease, and a renewal reads the
/// store again first.
final class StoredCredential: Sendable {
    /// A change of the store.
    enum Change {
        case save(Credential)
        /// A login or renewal of this session has got a credential. That of a session with a later lease stays.
        case saveRenewed(Credential)
        /// The account has been logged out by the app. A credential of another account stays.
        case erase(account: String?)
        /// The server has refused the credential that this session has loaded or saved. Another one stays.
        case erasePrevious
    }

    /// The content of the store, compared with the credential of this session.
    enum Finding {
        case unchanged
        /// The credential of another session.
        case newer(Credential)
        /// Another session has erased the credential, or it cannot be read any more.
        case none
    }

    private struct Contents {
        var saving = WriteCoalescer()
        var latest = Change.erasePrevious
        /// The numbers of the last change recorded, and of the last one written.
        var recorded = 0
        var written = 0
    }

    private let contents = Mutex(Contents())
    private let store: any CredentialStore
    private let events: Signal<Session.Event>
    /// The credential that this session has last loaded or saved.
    private let previous: MutableProperty<Credential?>
    /// The store's lease: one for all work of this session that needs it at the same time.
    private let lease: Observable<Void, NetworkError>

    /// Sends a value each time another session may have changed the store.
    let changed: Signal<Void>
    private let observation: SubscriptionBag

    /// The saved credential, loaded once for all subscribers; an error if it cannot be read.
    let loaded: Observable<Result<Credential?, NetworkError>, Never>

    /// - Parameter events: receives the failures of the store.
    init(in store: any CredentialStore, events: Signal<Session.Event>) {
        let previous = MutableProperty<Credential?>(nil)
        let changed = Signal<Void>()
        let observation = SubscriptionBag()
        self.store = store
        self.events = events
        self.previous = previous
        self.changed = changed
        self.observation = observation
        lease = store.lease().share(replay: 1)
        let load = Observable<Credential?, NetworkError>.deferred { [weak observation] in
            if let observation { store.changes().subscribe { changed.send() }.store(in: observation) }
            return store.load()
        }
        loaded = Observable.concat([load, .just(nil)]).take(1)
            .handleEvents(onNext: { previous.value = $0 })
            .asResult()
            .share(replay: 1, reset: [])
    }

    /// Records a change; the caller must then call ``write()``. Calls no other code, so it is safe under a
    /// lock.
    func record(_ change: Change) {
        contents.withLock { contents in
            contents.latest = change
            contents.recorded += 1
            contents.saving.recordChange(isUrgent: true)
        }
    }

    /// One value once every change so far is saved, then completion; fails if a change cannot be written.
    func flush() -> Observable<Void, NetworkError> {
        .create { emitter in
            guard self.contents.withLock({ $0.saving.wait(emitter) }) else {
                emitter.send(())
                return emitter.finish()
            }
            self.write()
        }
    }

    /// Whether the current credential could not be saved, so that no other session knows it.
    var hasUnsavedChange: Bool { contents.withLock { $0.saving.isDue } }

    /// The first value of `work`, while this session has the store's lease. If the lease is refused, `work` gets the
    /// reason and runs without it.
    func leased<Value: Sendable>(
        _ work: @escaping @Sendable (_ refusal: NetworkError?) -> Observable<Value, NetworkError>
    ) -> Observable<Value, NetworkError> {
        lease.map { NetworkError?.none }.catch { .just($0) }
            .flatMap(.concat) { refusal in
                // The lease itself does not end.
                Observable<Value?, NetworkError>.concat([work(refusal).map { $0 }, .just(nil)])
            }
            .take(1).compactMap { $0 }
    }

    /// Reads the store again, while this session has the lease. One value, then completion; fails if the store cannot be
    /// reached.
    ///
    /// - Parameter current: the credential that this session would renew.
    func check(against current: Credential?) -> Observable<Finding, NetworkError> {
        guard !hasUnsavedChange else { return .just(.unchanged) }
        return reread().map { [previous] result throws(NetworkError) in
            let former = previous.value
            // A store that cannot be reached now may have a credential.
            if case .failure(let error) = result, error.code.recoveryOptions.contains(.reconnection) {
                throw error
            }
            guard case .success(let found?) = result else { return former == nil ? .unchanged : .none }
            guard found.hasOtherTokens(than: current) else { return .unchanged }
            previous.value = found
            return .newer(found)
        }
    }

    /// Reads the store again because another session may have changed it. One value, then completion.
    ///
    /// - Parameter current: the credential of this session.
    func checkAfterChange(of current: Credential?) -> Observable<Finding, Never> {
        guard !isSaving else { return .just(.unchanged) }
        return Observable.concat([store.load(), .just(nil)]).take(1).asResult().map { [self] result in
            // A change of this session is on its way, and follows what has been read.
            guard !isSaving else { return .unchanged }
            switch result {
            case .success(let found):
                if hasUnsavedChange, !found.hasOtherTokens(than: previous.value) {
                    // What could not be saved before is newer.
                    write()
                    return .unchanged
                }
                guard let found else { return current == nil ? .unchanged : .none }
                return found.hasOtherTokens(than: current) ? .newer(found) : .unchanged
            case .failure(let error):
                events.send(.storageFailed(error))
                return .unchanged
            }
        }
    }

    /// Records that this session uses the credential that it has found in the store, or that the store has none. A change
    /// that could not be written is forgotten. Calls no other code, so it is safe under a lock.
    ///
    /// - Returns: the callers that waited for the change, to be told of its end.
    func adopt(_ found: Credential?) -> [WriteCoalescer.Waiter] {
        previous.value = found
        return contents.withLock { contents in
            // While a write runs, nothing is discarded, and the write after it must not replace what has been found.
            contents.latest = found.map { .saveRenewed($0) } ?? .erasePrevious
            return contents.saving.discardChanges()
        }
    }

    /// Whether a change of this session has not reached the store yet.
    private var isSaving: Bool { contents.withLock { $0.recorded > $0.written } }

    private func reread() -> Observable<Result<Credential?, NetworkError>, NetworkError> {
        loaded.setFailureType(to: NetworkError.self).flatMap(.concat) { [store, events, previous] _ in
            Observable.concat([store.load(), .just(nil)]).take(1).asResult()
                .handleEvents(onNext: { result in
                    // A store that could not be read before has been reported.
                    guard case .failure(let error) = result, previous.value != nil else { return }
                    events.send(.storageFailed(error))
                })
                .setFailureType(to: NetworkError.self)
        }
    }

    /// Writes the latest change; a change during a write is written after it.
    func write() {
        let next = contents.withLock { contents in
            contents.saving.beginWriting().map {
                (number: $0, change: contents.latest, recorded: contents.recorded)
            }
        }
        guard let next else { return }
        // Nothing is written before the store has been read.
        loaded.flatMap(.concat) { [self] _ in
            insist(on: next.change).asResult().ifEmpty(default: .success(()))
        }
        .subscribe { outcome in self.endWriting(next.number, recorded: next.recorded, outcome) }
    }

    /// Makes a change under the lease. What the app has asked for is repeated if the lease was lost meanwhile.
    private func insist(on change: Change, repetitions: Int = 3) -> Observable<Void, NetworkError> {
        leased { _ in self.make(change) }.catch { error in
            if case .saveRenewed = change { return .fail(error) }
            guard error.code == .superseded, repetitions > 0 else { return .fail(error) }
            return self.insist(on: change, repetitions: repetitions - 1)
        }
    }

    private func make(_ change: Change) -> Observable<Void, NetworkError> {
        switch change {
        case .save(let credential), .saveRenewed(let credential): save(credential)
        case .erase(let account):
            reread().flatMap(.concat) { [self] result in
                guard case .success(let found?) = result, let account, let other = found.account,
                    other != account
                else { return save(nil) }
                return .just(())
            }
        case .erasePrevious:
            reread().flatMap(.concat) { [self] result in
                guard case .success(let found) = result, found?.hasOtherTokens(than: previous.value) != true
                else { return .just(()) }
                return save(nil)
            }
        }
    }

    private func save(_ credential: Credential?) -> Observable<Void, NetworkError> {
        let done = Observable<Void, NetworkError>.deferred { [previous] in
            previous.value = credential
            return .just(())
        }
        return .concat([store.save(credential).ignoreElements(as: Void.self), done])
    }

    private func endWriting(_ change: Int, recorded: Int, _ outcome: Result<Void, NetworkError>) {
        let isSaved = if case .success = outcome { true } else { false }
        var isSuperseded = false
        if case .failure(let error) = outcome { isSuperseded = error.code == .superseded }
        // A change that has been superseded must not be made later either.
        let isDone = isSaved || isSuperseded
        let (ready, isAwaited) = contents.withLock { contents in
            // Also after a failure: the change is not on its way any more, but unsaved.
            contents.written = max(contents.written, recorded)
            return (contents.saving.endWriting(change, isSaved: isDone), contents.saving.isAwaited)
        }
        switch outcome {
        case .success:
            for waiter in ready {
                waiter.send(())
                waiter.finish()
            }
        case .failure(let error):
            if !isSuperseded { events.send(.storageFailed(error)) }
            for waiter in ready { waiter.fail(error) }
        }
        if isSuperseded { changed.send() }
        if isAwaited { write() }
    }
}

extension Credential? {
    /// Whether a server would tell the credentials apart, or one of them is missing.
    fileprivate func hasOtherTokens(than other: Credential?) -> Bool {
        self.map { $0.hasOtherTokens(than: other) } ?? (other != nil)
    }
}

extension Credential {
    /// Whether a server would tell the credentials apart. A store may lose the rest, such as fractions of a second.
    fileprivate func hasOtherTokens(than other: Credential?) -> Bool {
        token != other?.token || refreshToken != other?.refreshToken
    }
}
