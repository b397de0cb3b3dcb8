public import FoundationEssentials
import HTTPTypes
package import RxHTTP
public import RxLite
import Synchronization

/// Keeps the cookies that servers set, and gives them back to those servers (RFC 6265).
///
/// ```swift
/// var configuration = ClientConfiguration()
/// configuration.cookies = CookieJar(file: "cookies.json")
/// let client = Client(baseURL: "https://api.example.com/v1", configuration: configuration)
/// ```
///
/// A client with a jar reads and fills it at each request, at each redirect on its way too. A jar can be
/// shared by several clients: cookies belong to hosts, not to clients. All of it is safe from any thread.
///
/// The jar of a client with a `Session` holds its account's cookies: when the account goes they go, and requests that
/// are still under way for it neither carry nor set any.
///
/// A jar with a storage restores it before the first request goes out, and saves what has changed a second
/// later, several changes at once; ``flush()`` does not wait.
public final class CookieJar: Sendable {
    struct Contents {
        var store: CookieStore
        /// Whether what the storage held is in the store.
        var isRestored: Bool
        /// What was removed before it was restored, and must not come back with it.
        var earlyRemovals: [@Sendable (Cookie) -> Bool] = []
        /// The restoring that runs.
        var restoring: Observable<Void, NetworkError>?
        /// Counts the times everything was removed.
        var epoch = 0
        /// The current account of each owner that has the jar.
        var accounts: [UInt64: Int] = [:]
        /// What came from the storage, and has not been set since.
        var restored: Set<Cookie.ID> = []
        var events: [CookieEvent] = []
        /// Whether something has changed that is to be saved.
        var isChanged = false
    }

    let contents: Mutex<Contents>
    let saving = Mutex(WriteCoalescer())
    let storage: CookieStorage?
    let keepsSessionCookies: Bool
    let saveDelay: Duration
    package let clock: SharedClock
    let emptyStore: CookieStore
    private let signal = Signal<CookieEvent>()
    /// Events are delivered in the order in which they came about.
    private let delivery = Lane()

    /// Creates a jar.
    ///
    /// - Parameters:
    ///   - publicSuffixes: the domains that no cookie may be set for.
    ///   - limits: the limits of number and size.
    ///   - storage: where cookies outlive the process. Default: nowhere.
    ///   - keepsSessionCookies: whether cookies without an end are saved too. Default no: they end with the
    ///     process.
    ///   - saveDelay: how long after a change it is saved. Default 1 s.
    ///   - clock: measures that, and the age of cookies. Default: the virtual time of the jar's first client, if it has
    ///     such, otherwise the system's.
    public init(
        publicSuffixes: PublicSuffixes, limits: CookieLimits = CookieLimits(),
        storage: CookieStorage? = nil, keepsSessionCookies: Bool = false,
        saveDelay: Duration = .seconds(1), clock: (any Scheduler)? = nil
    ) {
        emptyStore = CookieStore(publicSuffixes, limits)
        contents = Mutex(Contents(store: emptyStore, isRestored: storage == nil))
        self.storage = storage
        self.keepsSessionCookies = keepsSessionCookies
        self.saveDelay = saveDelay
        self.clock = SharedClock(clock)
    }

    /// The jar's events from the time of subscription on. Restored cookies cause no event.
    public var events: Observable<CookieEvent, Never> { signal.observable }

    /// Every cookie that has not expired, in the order of their creation.
    public var cookies: [Cookie] {
        let now = clock.date
        return contents.withLock { $0.store.all(at: now) }
    }

    /// The cookies that a request to `url` would carry, in that order.
    public func cookies(for url: URL) -> [Cookie] {
        guard let origin = CookieOrigin(url) else { return [] }
        let now = clock.date
        return contents.withLock { $0.store.cookies(for: origin, at: now) }
    }

    /// Sets a cookie as if the server at `url` had.
    ///
    /// ```swift
    /// try jar.set("theme=dark; Path=/; Max-Age=86400", from: url)
    /// ```
    ///
    /// - Parameter line: the value of a `Set-Cookie` field. One that has expired takes the cookie back.
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
            // A response to a request from before everything was removed, or of an account that has gone.
            guard epoch == nil || epoch == contents.epoch, contents.holds(account) else {
                return .success(())
            }
            do throws(CookieRefusal) {
                let changes = try contents.store.set(setCookie, from: origin, at: now)
                if let cookie = changes.stored { contents.restored.remove(cookie.id) }
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

    /// Removes every cookie, also those that responses under way would set, and saves at once: logging out.
    public func removeAll() {
        remove(isAll: true) { _ in true }
    }

    /// Removes the cookies of a domain and of the hosts below it.
    public func removeAll(domain: String) {
        let domain = CookieOrigin.canonical(domain.hasPrefix(".") ? String(domain.dropFirst()) : domain)
        remove { $0.domain == domain || $0.domain.hasSuffix("." + domain) }
    }

    /// Removes the cookies that nothing gives an end, as closing a browser does.
    public func removeSessionCookies() {
        remove(where: \.isSession)
    }

    /// Removes one cookie.
    public func remove(_ cookie: Cookie) {
        remove { $0.isSame(as: cookie) }
    }

    private func remove(isAll: Bool = false, where isUnwanted: @escaping @Sendable (Cookie) -> Bool) {
        change { contents in
            if isAll { contents.epoch += 1 }
            if !contents.isRestored { contents.earlyRemovals.append(isUnwanted) }
            contents.events += contents.store.removeAll(where: isUnwanted).map(CookieEvent.removed)
        }
        saveSoon(after: .zero)
    }

    // MARK: - Carrying requests

    /// `request` with its cookies, those as text, and what ``store(_:for:at:epoch:as:)`` wants to know later; `nil`
    /// where its account has gone, and the jar is no longer its.
    ///
    /// A `Cookie` field that the request has stands first, and the jar's cookies of the same names are left out.
    ///
    /// - Parameters:
    ///   - origin: where it goes, as far as cookies care.
    ///   - account: whose request it is; `nil` for nobody's in particular.
    ///   - isSent: whether it goes out with them, which counts as a use.
    package func adding(
        to request: Request, at origin: CookieOrigin, as account: Account? = nil, isSent: Bool = true
    ) -> (request: Request, added: String, epoch: Int)? {
        let now = clock.date
        let taken = contents.withLock { contents -> ([Cookie], Int)? in
            guard contents.holds(account) else { return nil }
            let cookies =
                isSent
                ? contents.store.take(for: origin, at: now) : contents.store.cookies(for: origin, at: now)
            return (cookies, contents.epoch)
        }
        guard let (cookies, epoch) = taken else { return nil }
        guard !cookies.isEmpty else { return (request, "", epoch) }
        let own = request.headerFields[values: .cookie].joined(separator: "; ")
        let names = own.isEmpty ? [] : Set(own.split(separator: ";").map(\.cookieName))
        let added = cookies.filter { !names.contains($0.name[...]) }.map(\.pair)
            .prefix(Self.mostSent)
        let text = added.joined(separator: "; ")
        var request = request
        // Split into a field for each cookie, of which there is room for so many.
        request.headerFields[.cookie] = [own, text].filter { !$0.isEmpty }.joined(separator: "; ")
        return (request, text, epoch)
    }

    /// The most cookies of one request, whatever the limits of the jar are.
    private static let mostSent = 3000

    /// Takes what the response to `request` sets.
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

    // MARK: -

    /// Changes the contents, tells what came of it, and has it saved.
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

    /// Tells what has come about.
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
    /// Of one `name=value` in a `Cookie` field.
    fileprivate var cookieName: Substring {
        guard let equals = firstIndex(of: "=") else { return "" }
        let name = self[..<equals].drop { $0 == " " || $0 == "\t" }
        return name.lastIndex { $0 != " " && $0 != "\t" }.map { name[...$0] } ?? ""
    }
}
