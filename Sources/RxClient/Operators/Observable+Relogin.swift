public import RxHTTP
public import RxLite
import Synchronization

extension Observable where Failure == NetworkError {
    /// When the server says that the login has expired, has `session` log in again, once for all who find
    /// out, and sends the request once more. A second refusal stands.
    public func relogin(through session: Session) -> Observable {
        Observable(scheduler: scheduler) { observer in
            self.handleEvents(onNext: { _ in session.noteSuccess() })
                .relogin(through: session, replay: Replay()).subscribe(observer)
        }
    }

    /// The same, with a replay that all attempts of one request share.
    func relogin(through session: Session?, replay: Replay, trace: Trace? = nil) -> Observable {
        guard let session else { return self }
        return self.catch { error in
            guard session.canRecover(from: error), !replay.isUsed else { return .fail(error) }
            trace?.tell(.relogin(because: error))
            return session.recover(from: error).flatMap(.concat) { stamp in
                guard replay.use() else { return .fail(error) }
                return self.handleEvents(onNext: { _ in session.noteSuccess(of: stamp) })
            }
        }
    }
}

/// The one replay that a request has.
final class Replay: Sendable {
    private let used = Atomic<Bool>(false)

    var isUsed: Bool { used.load(ordering: .relaxed) }

    /// `true` the first time.
    func use() -> Bool { !used.exchange(true, ordering: .relaxed) }
}
