import FoundationEssentials
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Synchronization

/// A jar in virtual time, with a list of public suffixes that a test can read.
final class CookieBench: Sendable {
    let clock: VirtualScheduler
    let jar: CookieJar
    let storage: ScriptedStorage
    private let log = Mutex<[String]>([])

    /// What happened to the jar so far: `+ name=value`, `- name`, `! reason`.
    var events: [String] { log.withLock { $0 } }

    static let suffixes = PublicSuffixes { domain in
        if domain == "city.kawasaki.test" { return false }
        if domain.hasSuffix(".kawasaki.test") && domain.split(separator: ".").count == 3 { return true }
        return !domain.contains(".") || ["co.uk", "hosts.test", "kawasaki.test"].contains(domain)
    }

    init(
        suffixes: PublicSuffixes = CookieBench.suffixes, limits: CookieLimits = CookieLimits(),
        isStored: Bool = false, keepsSessionCookies: Bool = false,
        on clock: VirtualScheduler = VirtualScheduler(startingAt: Date(timeIntervalSince1970: 0)),
        storage: ScriptedStorage = ScriptedStorage()
    ) {
        self.clock = clock
        self.storage = storage
        jar = CookieJar(
            publicSuffixes: suffixes, limits: limits, storage: isStored ? storage.storage : nil,
            keepsSessionCookies: keepsSessionCookies, clock: clock)
        jar.events.subscribe { event in self.log.withLock { $0.append("\(event.line)") } }
    }

    /// The `Cookie` field of a request to `url`.
    func field(_ url: String) -> String {
        guard let url = URL(string: url) else { return "no URL" }
        return jar.cookies(for: url).map { $0.name.isEmpty ? $0.value : "\($0.name)=\($0.value)" }
            .joined(separator: "; ")
    }

    func set(_ line: String, from url: String) throws(CookieRefusal) {
        guard let url = URL(string: url) else { throw .invalidURL }
        try jar.set(line, from: url)
    }

    /// Lets virtual time pass.
    func wait(_ time: Duration) throws { try clock.advance(by: time) }
}

extension CookieEvent {
    var line: String {
        switch self {
        case .stored(let cookie): "+ \(cookie.name)=\(cookie.value)"
        case .removed(let cookie): "- \(cookie.name)"
        case .refused(let reason, _): "! \(reason)"
        case .storageFailed(let error): "! \(error.message)"
        }
    }
}

/// A storage that counts, and fails when it is told to.
final class ScriptedStorage: Sendable {
    struct Contents {
        var bytes: [UInt8]?
        var loads = 0
        var saves = 0
        var loadErrors: [NetworkError] = []
        var saveErrors: [NetworkError] = []
        /// What loads and saves wait for, if anything.
        var gate: Observable<Void, Never>?
    }

    let contents: Mutex<Contents>

    init(_ bytes: [UInt8]? = nil) { contents = Mutex(Contents(bytes: bytes)) }

    var text: String { contents.withLock { String(decoding: $0.bytes ?? [], as: UTF8.self) } }
    var loads: Int { contents.withLock { $0.loads } }
    var saves: Int { contents.withLock { $0.saves } }

    var storage: CookieStorage {
        CookieStorage(load: waiting { .deferred { () throws(NetworkError) in .just(try self.load()) } }) {
            bytes in
            self.waiting { .deferred { () throws(NetworkError) in .just(try self.save(bytes)) } }
        }
    }

    private func waiting<T>(
        then operation: @escaping @Sendable () -> Observable<T, NetworkError>
    ) -> Observable<T, NetworkError> {
        Observable.deferred { () throws(NetworkError) in
            let gate = self.contents.withLock { $0.gate } ?? .just(())
            return gate.take(1).setFailureType(to: NetworkError.self).flatMap(.concat) { operation() }
        }
    }

    private func load() throws(NetworkError) -> [UInt8]? {
        let (bytes, error) = contents.withLock { contents in
            contents.loads += 1
            return (contents.bytes, contents.loadErrors.isEmpty ? nil : contents.loadErrors.removeFirst())
        }
        if let error { throw error }
        return bytes
    }

    private func save(_ bytes: [UInt8]) throws(NetworkError) {
        let error = contents.withLock { contents -> NetworkError? in
            contents.saves += 1
            guard contents.saveErrors.isEmpty else { return contents.saveErrors.removeFirst() }
            contents.bytes = bytes
            return nil
        }
        if let error { throw error }
    }
}
