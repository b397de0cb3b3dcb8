public import RxHTTP
public import RxLite
import Synchronization

extension Session {
    /// Loads the credential from the store; the first request does the same. One value, then completion.
    ///
    /// A store that cannot be read, or whose content is not a credential, counts as logged out; ``events``
    /// reports it. The next request goes without a credential, and the first one that the server refuses logs
    /// in. An account that was logged in, or out, before the load has completed stays.
    public func restore() -> Observable<Void, Never> {
        guard let stored, !isRestored else { return .just(()) }
        return stored.loaded.map { self.restore(from: $0) }
    }

    /// One value once every change so far is in the store, then completion; fails if a change cannot be
    /// written. Without a store, it completes at once.
    public func flush() -> Observable<Void, NetworkError> { stored?.flush() ?? .just(()) }

    var isRestored: Bool { contents.withLock { $0.isRestored } }

    private func restore(from outcome: Result<Credential?, NetworkError>) {
        let isFirst = contents.withLock { contents in
            guard !contents.isRestored else { return false }
            contents.isRestored = true
            switch outcome {
            case .success(let credential): contents.state.restore(credential ?? contents.state.credential)
            case .failure: contents.state.restore(nil)
            }
            return true
        }
        if isFirst, case .failure(let error) = outcome { signal.send(.loggedOut(error)) }
    }
}
