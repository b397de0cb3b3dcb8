public import FoundationEssentials
import HTTPTypes
public import RxHTTP
public import RxLite
import Synchronization

/// Stores the cookies that servers set, and sends them back to those servers (RFC 6265).
///
/// ```swift
/// var configuration = ClientConfiguration()
/// configuration.cookies = CookieJar(file: "cookies.json")
/// let client = Client(baseURL: "https://api.example.com/v1", configuration: configuration)
/// ```
///
/// A client with a jar reads and updates it with each request and each redirect. Several clients can share a
/// jar: cookies belong to hosts, not to clients. All members are safe to call from any thread.
///
/// The jar of a client with a `Session` contains the cookies of the current account: when the account
/// changes, they are removed, and requests of the old account that are still running neither send nor set
/// cookies.
///
/// A jar with a storage restores it before the first request is sent, and saves changes one second later,
/// several changes together; ``flush()`` saves immediately.
public final class CookieJar: Sendable {
    struct Contents {
        var cookies: CookieTable
        /// Whether the cookies of the storage have been added to `cookies`.
        var isRestored: Bool
        /// The cookies that were removed before the restoration, and must not be restored.
        var earlyRemovals: [@Sendable (Cookie) -> Bool] = []
        /// The running restoration.
        var restoring: Observable<Void, NetworkError>?
        /// How often all cookies have been removed; requests carry it as their epoch.
        var clearCount = 0
        /// The current account of each owner that uses the jar.
        var accounts: [UInt64: Int] = [:]
        /// The cookies that came from the storage and have not been set since.
        var fromStorage: Set<Cookie.ID> = []
        /// The events to deliver. Whoever adds some delivers them outside the lock: by ``CookieJar/change(_:)``, or by
        /// ``CookieJar/deliverEvents()``.
        var events: [CookieEvent] = []
        /// Whether the running ``CookieJar/change(_:)`` must be saved; that resets it first.
        var isChanged = false
    }

    let contents: Mutex<Contents>
    let saving = Mutex(WriteCoalescer())
    let storage: CookieStorage?
    let keepsSessionCookies: Bool
    let saveDelay: Duration
    package let clock: SharedClock
    /// An empty table with the jar's rules: validates cookies, and is what the jar starts from.
    let emptyTable: CookieTable
    private let signal = Signal<CookieEvent>()
    /// Delivers events in the order in which they occurred.
    private let delivery = Lane()

    /// Creates a jar.
    ///
    /// - Parameters:
    ///   - publicSuffixes: the domains for which no cookie may be set.
    ///   - domainLimit: the maximum number of cookies per domain. Over a limit, expired cookies are evicted first, then those
    ///     without `Secure`, then the least recently used (RFC 6265bis §5.7). Default 180.
    ///   - countLimit: the maximum number of cookies in total. Default 3,000.
    ///   - longestLifetime: the maximum lifetime of a cookie, in seconds; longer lifetimes are cut. Default 400 days (RFC
    ///     6265bis §5.5).
    ///   - storage: the storage that keeps cookies for the next process. Default `nil`: cookies are kept in
    ///     memory.
    ///   - keepsSessionCookies: whether cookies without an expiry are saved too. Default false: they end with
    ///     the process.
    ///   - saveDelay: the time from a change to its save. Default 1 s.
    ///   - clock: the clock for this delay and for the age of cookies. Default `nil`: the virtual time of the
    ///     jar's first client if that has one, otherwise the system's clock.
    public convenience init(
        publicSuffixes: PublicSuffixes, domainLimit: Int = 180, countLimit: Int = 3000,
        longestLifetime: TimeInterval = 400 * 86400, storage: CookieStorage? = nil,
        keepsSessionCookies: Bool = false, saveDelay: Duration = .seconds(1), clock: (any Scheduler)? = nil
    ) {
        let limits = CookieLimits(perDomain: domainLimit, total: countLimit, lifetime: longestLifetime)
        self.init(
            publicSuffixes: publicSuffixes, limits: limits, storage: storage,
            keepsSessionCookies: keepsSessionCookies, saveDelay: saveDelay, clock: clock)
    }

    package init(
        publicSuffixes: PublicSuffixes, limits: CookieLimits, storage: CookieStorage? = nil,
        keepsSessionCookies: Bool = false, saveDelay: Duration = .seconds(1), clock: (any Scheduler)? = nil
    ) {
        emptyTable = CookieTable(publicSuffixes, limits)
        contents = Mutex(Contents(cookies: emptyTable, isRestored: storage == nil))
        self.storage = storage
        self.keepsSessionCookies = keepsSessionCookies
        self.saveDelay = saveDelay
        self.clock = SharedClock(clock)
    }

    /// The events of the jar, from the subscription on. Restored cookies cause no events.
    public var events: Observable<CookieEvent, Never> { signal.observable }

    /// All cookies that have not expired, in the order of their creation.
    public var cookies: [Cookie] {
        let now = clock.date
        return contents.withLock { $0.cookies.all(at: now) }
    }

    /// The cookies for a request to `url`, in the order in which they are sent.
    public func cookies(for url: URL) -> [Cookie] {
        guard let origin = CookieOrigin(url) else { return [] }
        let now = clock.date
        return contents.withLock { $0.cookies.matching(origin, at: now) }
    }

    /// Sets a cookie as if the server at `url` had set it.
    ///
    /// ```swift
    /// try jar.set("theme=dark; Path=/; Max-Age=86400", from: url)
    /// ```
    ///
    /// - Parameter line: the value of a `Set-Cookie` field. An expired cookie removes the existing one.
    public func set(_ line: String, from url: URL) throws(CookieRefusal) {
        guard let origin = CookieOrigin(url) else { throw .invalidURL }
        try set(line, from: origin, epoch: nil)
    }

    private func set(
        _ line: String, from origin: CookieOrigin, epoch: Int?, as account: Account? = nil
    ) throws(CookieRefusal) {
        let setCookie = try SetCookie(line)
        let now = clock.date
        let outcome = change { contents -> Result<Void, CookieRefusal> in
            // Ignores a response to a request from before all cookies were removed, or of a former account.
            guard epoch == nil || epoch == contents.clearCount, contents.holds(account) else {
                return .success(())
            }
            do throws(CookieRefusal) {
                let changes = try contents.cookies.set(setCookie, from: origin, at: now)
                if let cookie = changes.stored { contents.fromStorage.remove(cookie.id) }
                contents.events += [changes.stored].compactMap(\.self).map(CookieEvent.stored)
                contents.events += changes.removed.map(CookieEvent.removed)
                contents.isChanged = self.keepsSessionCookies || changes.isLasting
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try outcome.get()
    }

    // MARK: - Removing

    /// Removes all cookies, including those that running requests would still set, and saves immediately. Use
    /// it for a logout.
    public func removeAll() {
        remove(isAll: true) { _ in true }
    }

    /// Removes the cookies of a domain and of its subdomains.
    public func removeAll(domain: String) {
        let domain = CookieOrigin.canonical(domain.hasPrefix(".") ? String(domain.dropFirst()) : domain)
        remove { $0.domain == domain || $0.domain.hasSuffix("." + domain) }
    }

    /// Removes the cookies without an expiry, as when a browser is closed.
    public func removeSessionCookies() {
        remove(where: \.isSession)
    }

    /// Removes one cookie.
    public func remove(_ cookie: Cookie) {
        remove { $0.isSame(as: cookie) }
    }

    private func remove(isAll: Bool = false, where isUnwanted: @escaping @Sendable (Cookie) -> Bool) {
        change { contents in
            if isAll { contents.clearCount += 1 }
            if !contents.isRestored { contents.earlyRemovals.append(isUnwanted) }
            contents.events += contents.cookies.removeAll(where: isUnwanted).map(CookieEvent.removed)
        }
        saveSoon(after: .zero)
    }

    // MARK: - Carrying requests

    /// Returns `request` with its cookies, the added cookies as text, and the epoch that
    /// ``store(_:for:at:epoch:as:)`` needs later; `nil` if `account` no longer owns the jar.
    ///
    /// An existing `Cookie` field of the request comes first; cookies of the jar with the same names are
    /// omitted.
    ///
    /// - Parameters:
    ///   - origin: the parts of the URL that matter for cookies.
    ///   - account: the account of the request; `nil` for no particular account.
    ///   - isSent: whether the request is sent with the cookies, which counts as a use.
    package func adding(
        to request: Request, at origin: CookieOrigin, as account: Account? = nil, isSent: Bool = true
    ) -> (request: Request, added: String, epoch: Int)? {
        let now = clock.date
        let taken = contents.withLock { contents -> ([Cookie], Int)? in
            guard contents.holds(account) else { return nil }
            let cookies =
                isSent
                ? contents.cookies.take(for: origin, at: now) : contents.cookies.matching(origin, at: now)
            return (cookies, contents.clearCount)
        }
        guard let (cookies, epoch) = taken else { return nil }
        guard !cookies.isEmpty else { return (request, "", epoch) }
        let own = request.headerFields[values: .cookie].joined(separator: "; ")
        let names = own.isEmpty ? [] : Set(own.parts(at: ";").map(\.cookieName))
        let added = cookies.filter { !names.contains($0.name[...]) }.map(\.pair)
            .prefix(Self.maxCookiesPerRequest)
        let text = added.joined(separator: "; ")
        var request = request
        // `HTTPFields` splits it into one field per cookie, and stops the process at more than
        // ``ResponseHead/maxFields``.
        request.headerFields[.cookie] = [own, text].filter { !$0.isEmpty }.joined(separator: "; ")
        return (request, text, epoch)
    }

    /// The maximum number of cookies in one request, regardless of the jar's limits.
    private static let maxCookiesPerRequest = 3000

    /// Stores the cookies that the response to `request` sets.
    package func store(
        _ head: ResponseHead, for request: Request, at origin: CookieOrigin, epoch: Int,
        as account: Account?
    ) {
        guard head[.setCookie] != nil else { return }
        for line in head.headerFields[values: .setCookie] {
            do throws(CookieRefusal) {
                try set(line, from: origin, epoch: epoch, as: account)
            } catch {
                let refusal = error
                change { $0.events.append(.refused(refusal, from: request.url)) }
            }
        }
    }

    // MARK: - Changes

    /// Changes the contents, delivers the events, and schedules a save.
    @discardableResult
    func change<Result>(_ change: (inout Contents) -> Result) -> Result {
        let (result, isChanged) = contents.withLock { contents in
            contents.isChanged = false
            return (change(&contents), contents.isChanged)
        }
        deliverEvents()
        if isChanged { saveSoon(after: saveDelay) }
        return result
    }

    /// Delivers the events that have occurred.
    func deliverEvents() {
        delivery.enter {
            let events = self.contents.withLock { contents in
                defer { contents.events = [] }
                return contents.events
            }
            for event in events { self.signal.send(event) }
        }
    }
}

extension Substring {
    /// The name in one `name=value` of a `Cookie` field.
    fileprivate var cookieName: Substring {
        let (name, value) = cut(at: "=")
        return value == nil ? "" : name.trimmingBlanks()
    }
}

extension CookieJar: RedactedDescription {
    /// The number of cookies.
    public var description: String { "\(cookies.count) cookies" }
}

extension CookieJar {
    /// An account that cookies belong to. The owner of a jar, such as a session, has one account at a time.
    package struct Account {
        fileprivate let owner: UInt64
        fileprivate let number: Int

        package init(_ number: Int, of owner: UInt64) {
            self.owner = owner
            self.number = number
        }
    }

    /// The cookies that stay in the jar when another account replaces the current one.
    package enum Kept {
        case all
        /// The cookies that were set in this process and do not come from the storage. There was no account
        /// then, so they belong to no other account. They include the cookies of the login.
        case new
        case none
    }

    /// Sets the current account of its owner. From now on, requests of the owner's other accounts do not use
    /// the jar.
    package func attach(_ account: Account) {
        contents.withLock { $0.accounts[account.owner] = account.number }
    }

    /// Switches the owner to another account. Calls no other code, so it can run under the owner's lock;
    /// ``finishSwitch()`` must follow.
    package func switchAccount(to account: Account, keeping kept: Kept) {
        contents.withLock { contents in
            contents.accounts[account.owner] = account.number
            switch kept {
            case .all: return
            case .new:
                let fromStorage = contents.fromStorage
                contents.removeAll { fromStorage.contains($0.id) }
            case .none:
                contents.clearCount += 1
                contents.removeAll { _ in true }
            }
            if !contents.isRestored { contents.earlyRemovals.append { _ in true } }
            contents.fromStorage = []
        }
    }

    /// Delivers the events of the switch, and saves the remaining cookies immediately.
    package func finishSwitch() {
        deliverEvents()
        saveSoon(after: .zero)
    }
}

extension CookieJar.Contents {
    /// Whether the jar's cookies belong to `account`; always true without an account, and for an owner that has not
    /// attached one.
    func holds(_ account: CookieJar.Account?) -> Bool {
        guard let account, let current = accounts[account.owner] else { return true }
        return current == account.number
    }

    fileprivate mutating func removeAll(where isUnwanted: (Cookie) -> Bool) {
        events += cookies.removeAll(where: isUnwanted).map(CookieEvent.removed)
    }
}

extension Cookie {
    /// Identifies a cookie, regardless of its value, by what ``isSame(as:)`` compares.
    struct ID: Hashable {
        let name: String
        let domain: String
        let isHostOnly: Bool
        let path: String
    }

    var id: ID { ID(name: name, domain: domain, isHostOnly: isHostOnly, path: path) }
}

/// The limits of a ``CookieJar``.
package struct CookieLimits: Sendable, Equatable {
    /// The maximum number of cookies per domain.
    package var perDomain: Int
    /// The maximum number of cookies in total.
    package var total: Int
    /// The maximum lifetime of a cookie, in seconds.
    package var lifetime: TimeInterval

    // The defaults are those of `CookieJar.init`.
    package init(perDomain: Int = 180, total: Int = 3000, lifetime: TimeInterval = 400 * 86400) {
        self.perDomain = perDomain
        self.total = total
        self.lifetime = lifetime
    }

    /// The maximum size of a jar's file, in bytes; at least that of the default limits, so that a jar whose limits were
    /// lowered still reads its file. The 22 KiB for each cookie are twice the limits of ``SetCookie`` if JSON escapes each
    /// character; only a default path may be longer.
    var fileSize: Int {
        let (size, isTooLarge) = max(total, Self().total).multipliedReportingOverflow(by: 22 << 10)
        return isTooLarge ? .max : size
    }
}

/// The domains under which anyone can register a name, such as `com`, `co.uk` and `github.io`: a cookie for such a
/// whole domain would also be sent to strangers.
///
/// RxNetworking's `.system` is the Public Suffix List (https://publicsuffix.org) of libpsl.
public struct PublicSuffixes: Sendable {
    /// `nil` if nothing is known.
    let contains: (@Sendable (String) -> Bool)?

    /// Creates a list.
    ///
    /// - Parameter contains: whether a domain is a public suffix. Called with names in lower case and ASCII
    ///   (`xn--…`), from any thread, and under a lock, so it must only look the name up.
    public init(_ contains: @escaping @Sendable (_ domain: String) -> Bool) {
        self.contains = contains
    }

    private init() { contains = nil }

    /// No list. Every domain may then be a public suffix, so a cookie is sent only to the host that set it,
    /// regardless of its domain.
    public static let unknown = PublicSuffixes()
}

/// An event of a ``CookieJar``.
public enum CookieEvent: Sendable {
    /// A cookie was set: a new cookie, a new value, or the same value again.
    case stored(Cookie)
    /// A cookie was removed: deleted by its server, removed by the app, expired, or evicted because of the
    /// limits.
    case removed(Cookie)
    /// A cookie from this URL was refused.
    case refused(CookieRefusal, from: URL)
    /// The storage could not be read or written, or its content was not a jar. The jar continues in memory.
    case storageFailed(NetworkError)
}

extension CookieEvent: RedactedDescription {
    /// One line without values and without the query of a URL.
    public var description: String {
        switch self {
        case .stored(let cookie): "stored \(cookie)"
        case .removed(let cookie): "removed \(cookie)"
        case .refused(let refusal, let url): "refused (\(refusal)) from \(url.absoluteString.withoutSecrets)"
        case .storageFailed(let error): "storage failed: \(error)"
        }
    }
}
