import RxHTTP
import RxLite
import Synchronization

/// A session's credential as its store has it: loaded once, written in the order of the changes, of those that wait
/// only the newest.
final class StoredCredential: Sendable {
    private struct Contents {
        var saving = WriteCoalescer()
        var latest: Credential?
    }

    private let contents = Mutex(Contents())
    private let store: any CredentialStore
    private let events: Signal<SessionEvent>

    /// What was saved last, loaded once however many ask; an error where that cannot be read.
    let loaded: Observable<Result<Credential?, NetworkError>, Never>

    /// - Parameter events: told of what cannot be saved.
    init(in store: any CredentialStore, events: Signal<SessionEvent>) {
        self.store = store
        self.events = events
        loaded = Observable.concat([store.load(), .just(nil)]).take(1).asResult()
            .share(replay: 1, reset: [])
    }

    /// Takes note of a change; ``write()`` is to follow. Calls nobody, so that it can be done under a lock.
    func note(_ credential: Credential?) {
        contents.withLock { contents in
            contents.latest = credential
            contents.saving.noteChange(isUrgent: true)
        }
    }

    /// One value once every change so far is safe, then the end; its error if it cannot be written.
    func flush() -> Observable<Void, NetworkError> {
        .create { emitter in
            guard self.contents.withLock({ $0.saving.wait(emitter) }) else {
                emitter.send(())
                return emitter.finish()
            }
            self.write()
        }
    }

    /// Writes what has changed; while a write runs it is followed by the next.
    func write() {
        let next = contents.withLock { contents in
            contents.saving.beginWriting().map { (change: $0, credential: contents.latest) }
        }
        guard let next else { return }
        // What is read is not written before it has been read.
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
