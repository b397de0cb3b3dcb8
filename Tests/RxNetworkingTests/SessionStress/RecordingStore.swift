import RxNetworking
import Synchronization

/// Keeps the credential in memory, and exposes it.
final class RecordingStore: CredentialStore {
    private let contents: Mutex<Credential?>

    init(_ credential: Credential?) { contents = Mutex(credential) }

    var latest: Credential? { contents.withLock { $0 } }

    func load() -> Observable<Credential?, NetworkError> { .deferred { .just(self.latest) } }

    func save(_ credential: Credential?) -> Observable<Void, NetworkError> {
        .deferred { .just(self.contents.withLock { $0 = credential }) }
    }
}
