import RxHTTP
import RxLite
import Synchronization

/// A session's credential in its store: loaded once, and saved in the order of the changes. Of the waiting
/// changes only the newest is saved.
final class StoredCredential: Sendable {
    private struct Contents {
        var saving = WriteCoalescer()
        var latest: Credential?
    }

    private let contents = Mutex(Contents())
    private let store: any CredentialStore
    private let events: Signal<SessionEvent>

    /// The saved credential, loaded once for all subscribers; an error if it cannot be read.
    let loaded: Observable<Result<Credential?, NetworkError>, Never>

    /// - Parameter events: receives the failures of saving.
    init(in store: any CredentialStore, events: Signal<SessionEvent>) {
        self.store = store
        self.events = events
        loaded = Observable.concat([store.load(), .just(nil)]).take(1).asResult()
            .share(replay: 1, reset: [])
    }

    /// Records a change; the caller must then call ``write()``. Calls no other code, so it is safe under a
    /// lock.
    func note(_ credential: Credential?) {
        contents.withLock { contents in
            contents.latest = credential
            contents.saving.noteChange(isUrgent: true)
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

    /// Writes the latest change; a change during a write is written after it.
    func write() {
        let next = contents.withLock { contents in
            contents.saving.beginWriting().map { (change: $0, credential: contents.latest) }
        }
        guard let next else { return }
        // Nothing is written before the store has been read.
        loaded.flatMap(.concat) { [store] _ in
            store.save(next.credential).ignoreElements(as: Void.self).asResult()
                .ifEmpty(default: .success(()))
        }
        .subscribe { outcome in self.endWriting(next.change, outcome) }
    }

    private func endWriting(_ change: Int, _ outcome: Result<Void, NetworkError>) {
        let isSaved = if case .success = outcome { true } else { false }
        let (ready, isAwaited) = contents.withLock { contents in
            (contents.saving.endWriting(change, isSaved: isSaved), contents.saving.isAwaited)
        }
        switch outcome {
        case .success:
            for waiter in ready {
                waiter.send(())
                waiter.finish()
            }
        case .failure(let error):
            events.send(.storageFailed(error))
            for waiter in ready { waiter.fail(error) }
        }
        if isAwaited { write() }
    }
}
