import FoundationEssentials
import HTTPTypes
import RxCache
import RxHTTP
import Synchronization

/// One unsafe request, whose success invalidates stored responses (RFC 9111 §4.4).
///
/// The stage ``CacheInvalidation``, and `changing(_:by:)` for requests built by hand, call ``begin()`` when it is sent, and
/// then one of the ends, of which only the first counts; change both together.
final class CacheChange: Sendable {
    private let request: Request
    private let cache: ResponseCache
    private let servers: ServerPair?
    private let mayBeUpgraded: Bool
    /// The responses that the request itself may outdate, whatever its own response names.
    private let targets: [CacheSelection]
    private let hasEnded = Atomic<Bool>(false)

    /// - Parameters:
    ///   - servers: the servers of the service. The cache identifies their resources by the URLs at the main
    ///     server.
    ///   - mayBeUpgraded: whether a request sent to https may have been made, and cached, with an http URL
    ///     (RFC 6797).
    init(
        _ request: Request, in cache: ResponseCache, at servers: ServerPair? = nil,
        mayBeUpgraded: Bool = false
    ) {
        self.request = request
        self.cache = cache
        self.servers = servers
        self.mayBeUpgraded = mayBeUpgraded
        var targets: [CacheSelection] = []
        let url = Self.resource(request.urlText, request.cacheURL, at: servers)
        // ``CallContext`` has set `resource` before server and signature changed the URL.
        for target in [request.resource ?? request.cacheURL, url] {
            Self.add(target, to: &targets, of: request.method, mayBeUpgraded)
        }
        self.targets = targets
    }

    /// Records that the request is sent: responses to earlier requests may be outdated when they arrive.
    func begin() { recordChange() }

    /// Records that the request has ended. Without a head its effect is unknown.
    func end() {
        if !hasEnded.exchange(true, ordering: .relaxed) { recordChange() }
    }

    /// Records the head of the response. A success removes the stored responses of the URL, and of the URLs
    /// of the same origin that the response names.
    ///
    /// - Parameter url: the URL that responded, if it is not the request's. Default `nil`: the request's URL.
    func end(with head: ResponseHead, from url: URL? = nil) {
        guard !hasEnded.exchange(true, ordering: .relaxed) else { return }
        guard [.successful, .redirection].contains(head.status.kind) else { return recordChange() }
        var changed = targets
        for url in named(by: head, from: url ?? request.url) where isSameService(url) {
            let resource = Self.resource(url.absoluteString, url.cacheText, at: servers)
            Self.add(resource, to: &changed, of: request.method, mayBeUpgraded)
        }
        for selection in changed { cache.perform(cache.remove(selection)) }
    }

    private func recordChange() { cache.history.recordChange(of: targets) }

    /// The URLs that the response is about, besides the request's.
    private func named(by head: ResponseHead, from url: URL) -> [URL] {
        let named = [HTTPField.Name.location, .contentLocation].compactMap { name in
            head[name].flatMap { URL(reference: $0, base: url) }
        }
        return url == request.url ? named : [url] + named
    }

    private func isSameService(_ url: URL) -> Bool {
        guard let origin = Origin(url), let own = Origin(request.url) else { return false }
        return origin == own || servers.map { $0.contains(own) && $0.contains(origin) } == true
    }

    /// Adds the responses of a URL, and of the http URL that may have been upgraded to it. One URL often takes
    /// queries and commands by POST, so a POST leaves the responses that the policy ``CachePolicy/post(_:)`` has
    /// stored.
    private static func add(
        _ url: String, to selections: inout [CacheSelection], of method: HTTPRequest.Method,
        _ mayBeUpgraded: Bool
    ) {
        // `.resource`: only responses to GET; `.url`: those to POST, too.
        let selection: CacheSelection = method == .post ? .resource(url) : .url(url)
        guard !selections.contains(selection) else { return }
        selections.append(selection)
        guard mayBeUpgraded, url.hasPrefix("https://") else { return }
        add("http://" + url.dropFirst("https://".count), to: &selections, of: method, false)
    }

    /// The URL that identifies the resource at `url` in the cache.
    ///
    /// - Parameter text: how the cache writes `url`.
    private static func resource(_ url: String, _ text: String, at servers: ServerPair?) -> String {
        guard let servers, servers.main.path(of: url) == nil, let path = servers.standby?.path(of: url),
            let url = URL(string: servers.main.stem + path)
        else { return text }
        return url.cacheText
    }
}
