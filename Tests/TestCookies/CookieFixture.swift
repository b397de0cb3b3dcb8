import FoundationEssentials
package import RxCookies
import RxHTTP
import RxLite
package import RxTesting
import Synchronization

/// A jar in virtual time, with a list of public suffixes that a test can read.
package final class CookieFixture: Sendable {
    package let clock: VirtualScheduler
    package let jar: CookieJar
    package let storage: ScriptedStorage
    private let log = Mutex<[String]>([])

    /// The events of the jar so far: `+ name=value`, `- name`, `! reason`.
    package var events: [String] { log.withLock { $0 } }

    package static let suffixes = PublicSuffixes { domain in
        if domain == "city.kawasaki.test" { return false }
        if domain.hasSuffix(".kawasaki.test") && domain.split(separator: ".").count == 3 { return true }
        return !domain.contains(".") || ["co.uk", "hosts.test", "kawasaki.test"].contains(domain)
    }

    package init(
        suffixes: PublicSuffixes = CookieFixture.suffixes, limits: CookieLimits = CookieLimits(),
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
    package func field(_ url: String) -> String {
        guard let url = URL(string: url) else { return "no URL" }
        return jar.cookies(for: url).map { $0.name.isEmpty ? $0.value : "\($0.name)=\($0.value)" }
            .joined(separator: "; ")
    }

    package func set(_ line: String, from url: String) throws(CookieRefusal) {
        guard let url = URL(string: url) else { throw .invalidURL }
        try jar.set(line, from: url)
    }

    /// Lets virtual time pass.
    package func wait(_ time: Duration) throws { try clock.advance(by: time) }
}

extension CookieEvent {
    fileprivate var line: String {
        switch self {
        case .stored(let cookie): "+ \(cookie.name)=\(cookie.value)"
        case .removed(let cookie): "- \(cookie.name)"
        case .refused(let reason, _): "! \(reason)"
        case .storageFailed(let error): "! \(error.message)"
        }
    }
}
