public import RxHTTP
public import RxLite
import Synchronization

extension Session {
    /// Takes in what the store holds; the first request does so as well. One value, then the end.
    ///
    /// What holds no credential, or cannot be read, counts as logged out and is told by ``events``: the next request
    /// goes without credential, and the first that the server refuses logs in. An account that was logged in, or out,
    /// before this has ended stays.
    public func restore() -> Observable<Void, Never> {
        guard let stored, !isRestored else { return .just(()) }
        return stored.loaded.map { self.takeIn($0) }
    }

    /// One value once every change so far is in the store, then the end; fails if it cannot be written. Without a
    /// store there is nothing to wait for.
    public func flush() -> Observable<Void, NetworkError> { stored?.flush() ?? .just(()) }

    var isRestored: Bool { contents.withLock { $0.isRestored } }

    private func takeIn(_ outcome: Result<Credential?, NetworkError>) {
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
