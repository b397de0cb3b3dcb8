import FoundationEssentials
import RxCookies
import RxHTTP
import RxParameters

/// One server of a service, with its parsed base URL.
final class Server: Sendable {
    /// The base URL as given.
    let baseURL: String
    /// The base URL without a trailing slash: the start of the URLs of its paths.
    let stem: String
    /// The path of the base URL without a trailing slash, such as `/v1`; empty if it has none.
    let basePath: String
    /// The stem, if it contains nothing to escape and paths can be appended.
    private let stemText: URLText?
    /// The origin; `nil` if the base URL is not an absolute http or https URL.
    let origin: Origin?
    /// Whether paths can be appended: the base URL has neither query nor fragment.
    let takesPaths: Bool
    /// The client's state of the host, if there is a valid origin.
    let host: HostState?
    /// The server as instruments see it: one object for all exchanges, because they compare it by identity.
    let destination: ExchangeDestination

    init(_ baseURL: String, in hosts: HostRegistry) {
        self.baseURL = baseURL
        stem = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        origin = URL(string: baseURL).flatMap { Origin($0) }
        let path = URL(string: stem)?.path() ?? ""
        basePath = path == "/" ? "" : path
        takesPaths = !baseURL.contains { $0 == "?" || $0 == "#" }
        host = origin.map { hosts[$0] }
        stemText = origin != nil && takesPaths ? URLText(stem) : nil
        destination = ExchangeDestination(origin: origin, basePath: basePath, breaker: host?.breaker)
    }

    /// The URL of a path below the base URL that begins with a slash and contains nothing to escape; `nil`
    /// for other paths.
    func plainURL(of path: String) -> URLText? {
        path.hasDotSegments ? nil : stemText?.appending(path)
    }

    /// Whether `url` is below the base URL.
    func includes(_ url: String) -> Bool {
        guard origin != nil, takesPaths, url.utf8.hasPrefix(stem.utf8) else { return false }
        let end = url.utf8.index(url.startIndex, offsetBy: stem.utf8.count)
        guard end < url.utf8.endIndex else { return true }
        let next = url.utf8[end]
        return next == UInt8(ascii: "/") || next == UInt8(ascii: "?") || next == UInt8(ascii: "#")
    }

    /// The part of `url` after the base URL; `nil` if `url` is not below it.
    func path(of url: String) -> Substring? {
        includes(url) ? Substring(url.utf8.dropFirst(stem.utf8.count)) : nil
    }
}

extension String.UTF8View {
    /// Whether these bytes begin with `prefix`. It runs for each traced request, hence without iterators.
    fileprivate func hasPrefix(_ prefix: Self) -> Bool {
        let isPrefix = unsafe withContiguousStorageIfAvailable { bytes in
            unsafe prefix.withContiguousStorageIfAvailable { prefix in
                prefix.count <= bytes.count && prefix.indices.allSatisfy { unsafe bytes[$0] == prefix[$0] }
            }
        }
        return isPrefix.flatMap { $0 } ?? starts(with: prefix)
    }
}

// MARK: - Both servers

/// The servers of a service at the time when a request begins: they apply to all of its attempts.
struct ServerPair: Sendable {
    let main: Server
    let standby: Server?

    subscript(role: Servers.Role) -> Server? { role == .main ? main : standby }

    /// Whether neither server has been replaced.
    func isSame(as other: ServerPair) -> Bool { main === other.main && standby === other.standby }

    /// The server that the URL is below; `nil` if it is below neither.
    ///
    /// - Parameter preferred: the server that is tried first.
    func server(of url: String, _ preferred: Server?) -> Server? {
        if let preferred, preferred.includes(url) { return preferred }
        if main.includes(url) { return main }
        return standby.flatMap { $0.includes(url) ? $0 : nil }
    }

    /// Whether the origin may receive the service's secrets: it is an origin of the service, and uses TLS if
    /// the main server does.
    func trusts(_ origin: Origin?) -> Bool {
        contains(origin) && (main.origin?.scheme != "https" || origin?.scheme == "https")
    }

    /// Whether the origin is an origin of the service.
    func contains(_ origin: Origin?) -> Bool {
        guard let origin else { return false }
        return origin == main.origin || origin == standby?.origin
    }

    /// The origin by which the cookies of a request to `url` are chosen and stored. They belong to the service: a URL
    /// at the standby server has those of the corresponding URL at the main one; `Secure` cookies only if both use
    /// https.
    func cookieOrigin(of url: URL) -> CookieOrigin? {
        let origin = CookieOrigin(url)
        guard let standby, let origin, standby.path(of: url.absoluteString) != nil,
            let atMain = self.url(url, at: main).flatMap({ CookieOrigin($0) })
        else { return origin }
        return atMain.asSecure(as: origin)
    }

    /// The URL of the resource at `server`; `nil` if `url` is not below a base URL of the service.
    func url(_ url: URL, at server: Server) -> URL? {
        let text = url.absoluteString
        if server.path(of: text) != nil { return url }
        guard let path = main.path(of: text) ?? standby?.path(of: text) else { return nil }
        return URL(string: server.stem + path)
    }
}

extension ServerPair {
    /// The URL of a path: below the main server's base URL, or an absolute URL at one of the service's
    /// origins.
    func url(for path: String, allowingOtherOrigins allowsOtherOrigins: Bool) throws(NetworkError) -> URL {
        guard !path.hasDotSegments else {
            throw NetworkError(.invalidURL, "the path \(path.withoutSecrets) contains a segment . or ..")
        }
        if path.utf8.first.map({ $0 | 0x20 == UInt8(ascii: "h") }) == true,
            ["http://", "https://"].contains(where: { path.prefix($0.count).lowercased() == $0 })
        {
            let (url, origin) = try Self.parse(path)
            guard allowsOtherOrigins || main.baseURL.isEmpty || contains(origin) else {
                throw NetworkError(
                    .invalidURL,
                    "\(origin.scheme)://\(origin.host):\(origin.port) is not the origin of the base URL; "
                        + "set allowsOtherOrigins to send requests there")
            }
            return url
        }
        guard let baseOrigin = main.origin, main.takesPaths else {
            let problem = "is not an absolute http or https URL without query and fragment"
            throw NetworkError(.invalidURL, "the base URL \(main.baseURL.withoutSecrets) \(problem)")
        }
        let (url, origin) = try Self.parse(path.isEmpty ? main.baseURL : Self.join(main.baseURL, path))
        guard origin == baseOrigin else {
            throw NetworkError(
                .invalidURL, "the path \(path.withoutSecrets) leads away from the base URL's origin")
        }
        return url
    }

    private static func parse(_ text: String) throws(NetworkError) -> (URL, Origin) {
        guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
            throw NetworkError(
                .invalidURL,
                "\(text.withoutSecrets) contains a space or a control character; percent-encode it")
        }
        guard let url = URL(string: text), let origin = Origin(url) else {
            throw NetworkError(.invalidURL, "\(text.withoutSecrets) is not an absolute http or https URL")
        }
        return (url, origin)
    }

    private static func join(_ base: String, _ path: String) -> String {
        switch (base.hasSuffix("/"), path.hasPrefix("/")) {
        case (true, true): base + path.dropFirst()
        case (false, false): path.hasPrefix("?") ? base + path : base + "/" + path
        default: base + path
        }
    }
}
