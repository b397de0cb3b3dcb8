public import RxHTTP
public import RxLite
import Synchronization

extension Observable where Failure == NetworkError {
    /// When the server says that the login has expired, lets `session` log in again, once for all requests
    /// that find out, and sends the request once more. A second refusal is final.
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
            guard session.canRecover(from: error), !replay.isUsed else { return .fail(error) }
            trace?.tell(.relogin(because: error))
            return session.recover(from: error).flatMap(.concat) { stamp in
                // The server may refuse the credential of another session, too; only then is this one renewed.
                if session.isAdopted(stamp) {
                    return self.handleEvents(onNext: { _ in session.noteSuccess(of: stamp) })
                        .relogin(through: session, replay: replay, trace: trace)
                }
                guard replay.use() else { return .fail(error) }
                return self.handleEvents(onNext: { _ in session.noteSuccess(of: stamp) })
            }
        }
    }
}

/// The single replay of a request.
final class Replay: Sendable {
    private let used = Atomic<Bool>(false)

    var isUsed: Bool { used.load(ordering: .relaxed) }

    /// Returns `true` the first time.
    func use() -> Bool { !used.exchange(true, ordering: .relaxed) }
}
