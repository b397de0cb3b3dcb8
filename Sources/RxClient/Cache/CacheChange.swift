import FoundationEssentials
import HTTPTypes
import RxCache
import RxHTTP
import Synchronization

/// One request that may change the resource at its URL, as the cache sees it (RFC 9111 §4.4).
final class CacheChange: Sendable {
    private let request: Request
    private let cache: ResponseCache
    private let servers: ServerPair?
    private let mayBeUpgraded: Bool
    private let isOver = Atomic<Bool>(false)

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
    }

    /// Records that the request is sent: responses to earlier requests may be outdated when they arrive.
    func begin() { recordChange() }

    /// Records that the request has ended. Without a head its effect is unknown.
    func end() {
        if !isOver.exchange(true, ordering: .relaxed) { recordChange() }
    }

    /// Records the head of the response. A success removes the stored responses of the URL, and of the URLs
    /// of the same origin that the response names.
    ///
    /// - Parameter url: the URL that responded, if it is not the request's. Default `nil`: the request's URL.
    func end(with head: ResponseHead, from url: URL? = nil) {
        guard !isOver.exchange(true, ordering: .relaxed) else { return }
        guard [.successful, .redirection].contains(head.status.kind) else { return recordChange() }
        let url = url ?? request.url
        let named = [HTTPField.Name.location, .contentLocation].compactMap { name in
            head[name].flatMap { URL(reference: $0, base: url) }
        }
        let changed = ([url] + named).filter { isSameService($0) }.map(resource)
        for url in targets.union(withPlain(changed)) { cache.perform(cache.remove(selection(url))) }
    }

    private func recordChange() { cache.history.recordChange(of: targets.map(selection)) }

    /// The responses that the request may outdate. One URL often takes queries and commands by POST, so a POST leaves
    /// the responses that the policy ``CachePolicy/post(_:)`` has stored.
    private func selection(_ url: String) -> CacheSelection {
        request.method == .post ? .resource(url) : .url(url)
    }

    private var targets: Set<String> {
        withPlain([request.resource ?? request.cacheURL, resource(request.url)])
    }

    /// The URLs, and the http URLs that may have been upgraded to them.
    private func withPlain(_ urls: [String]) -> Set<String> {
        let upgraded = mayBeUpgraded ? urls.filter { $0.hasPrefix("https://") } : []
        return Set(urls).union(upgraded.map { "http://" + $0.dropFirst("https://".count) })
    }

    private func isSameService(_ url: URL) -> Bool {
        guard let origin = Origin(url), let own = Origin(request.url) else { return false }
        return origin == own || servers.map { $0.contains(own) && $0.contains(origin) } == true
    }

    /// The URL that identifies the resource at `url` in the cache.
    private func resource(_ url: URL) -> String {
        (servers.flatMap { $0.url(url, at: $0.main) } ?? url).cacheText
    }
}
