import FoundationEssentials
import RxCookies
import RxHTTP

/// The servers of a service at the time when a request begins: they apply to all of its attempts.
struct ServerPair: Sendable {
    let main: Server
    let standby: Server?

    subscript(role: ServerRole) -> Server? { role == .main ? main : standby }

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

    /// The origin of a request for cookies, which belong to the service: a URL at the standby server has the
    /// cookies of the corresponding URL at the main one; `Secure` cookies only if both use https.
    func cookieOrigin(of url: URL) -> CookieOrigin? {
        let origin = CookieOrigin(url)
        guard let standby, let origin, standby.path(of: url.absoluteString) != nil,
            let place = self.url(url, at: main).flatMap({ CookieOrigin($0) })
        else { return origin }
        return place.asSecure(as: origin)
    }

    /// The same resource at `server`; `nil` if `url` is not below a base URL of the service.
    func url(_ url: URL, at server: Server) -> URL? {
        let text = url.absoluteString
        if server.path(of: text) != nil { return url }
        guard let path = main.path(of: text) ?? standby?.path(of: text) else { return nil }
        return URL(string: server.stem + path)
    }
}
