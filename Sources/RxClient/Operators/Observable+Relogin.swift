public import RxHTTP
public import RxLite
import Synchronization

extension Observable where Failure == NetworkError {
    /// When the server says that the login has expired, lets `session` log in again, once for all requests
    /// that find out, and sends the request once more. A second refusal is final; it may end the session
    /// (``SecondRefusal``).
    public func relogin(through session: Session) -> Observable {
        Observable(scheduler: scheduler) { observer in
            self.handleEvents(onNext: { _ in session.noteSuccess() })
                .relogin(through: session, replay: Replay()).subscribe(observer)
        }
    }

    /// The same, with a replay shared by all attempts of one request.
    func relogin(through session: Session?, replay: Replay, trace: Trace? = nil) -> Observable {
        guard let session else { return self }
        return self.catch { error in
            guard session.canRecover(from: error), !replay.isUsed else {
                return .fail(replay.isReplay ? session.noteSecondRefusal(error) : error)
            }
            trace?.tell(.relogin(because: error))
            return session.recover(from: error).flatMap(.concat) { stamp in
                // The server may refuse the credential of another session, too; only then is this one renewed.
                if session.isAdopted(stamp) {
                    return self.handleEvents(onNext: { _ in session.noteSuccess(of: stamp) })
                        .relogin(through: session, replay: replay, trace: trace)
                }
                guard replay.begin() else { return .fail(error) }
                return self.handleEvents(onNext: { _ in session.noteSuccess(of: stamp) })
                    .mapError { session.noteSecondRefusal($0) }
            }
        }
    }
}

/// The single replay of a request.
final class Replay: Sendable {
    private let used = Atomic<Bool>(false)
    private let begun = Atomic<Bool>(false)

    var isUsed: Bool { used.load(ordering: .relaxed) }
    /// Whether the request has been sent again after a new login.
    var isReplay: Bool { begun.load(ordering: .relaxed) }

    /// Rules the replay out; returns `true` the first time.
    func use() -> Bool { !used.exchange(true, ordering: .relaxed) }

    /// Begins the replay; returns `false` if there is none.
    func begin() -> Bool {
        guard use() else { return false }
        begun.store(true, ordering: .relaxed)
        return true
    }
}
