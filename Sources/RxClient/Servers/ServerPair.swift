import FoundationEssentials
import RxCookies
import RxHTTP

/// The servers of a service as they are when a request begins: for all of its attempts.
struct ServerPair: Sendable {
    let main: Server
    let standby: Server?

    subscript(role: ServerRole) -> Server? { role == .main ? main : standby }

    /// Whether the origin may see what belongs to the service: it is one of its own, and reached over TLS if the main
    /// server is.
    func trusts(_ origin: Origin?) -> Bool {
        contains(origin) && (main.origin?.scheme != "https" || origin?.scheme == "https")
    }

    /// Whether the origin is one of the service's.
    func contains(_ origin: Origin?) -> Bool {
        guard let origin else { return false }
        return origin == main.origin || origin == standby?.origin
    }

    /// Where a request goes as far as cookies care. They belong to the service: at the standby server they are those of
    /// the same place at the main one; `Secure` cookies only if both are reached by https.
    func cookieOrigin(of url: URL) -> CookieOrigin? {
        let origin = CookieOrigin(url)
        guard let standby, let origin, standby.path(of: url.absoluteString) != nil,
            let place = self.url(url, at: main).flatMap({ CookieOrigin($0) })
        else { return origin }
        return place.asSecure(as: origin)
    }

    /// The same resource at `server`; `nil` if `url` is below no base URL of the service.
    func url(_ url: URL, at server: Server) -> URL? {
        let text = url.absoluteString
        if server.path(of: text) != nil { return url }
        guard let path = main.path(of: text) ?? standby?.path(of: text) else { return nil }
        return URL(string: server.stem + path)
    }
}
