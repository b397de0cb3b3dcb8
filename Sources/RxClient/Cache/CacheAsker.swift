import HTTPTypes
import RxCache
import RxCookies
import RxHTTP

/// The account and the cookies of a request, as far as they separate responses. This is the only place where
/// the cache determines the owner of a response.
struct CacheAsker: Sendable {
    /// The caller's name for the requester; empty for none.
    var name = ""
    /// The session that adds the credential, if there is one.
    var session: Session?
    /// The number of the session's account.
    var account: Int?
    /// The jar that adds cookies, if there is one.
    var jar: CookieJar?
    /// The service whose servers share their cookies.
    var servers: ServerPair?

    /// The identity of the requester: the account that is logged in, and a digest of the request's
    /// `Authorization`, `Cookie`, `Proxy-Authorization` and secret fields, and of the user and password for a
    /// digest challenge.
    func identity(of request: Request) -> String {
        let fields = request.headerFields
        let userInfo = request.userInfo
        guard !fields.isEmpty || request.digest != nil || userInfo != nil else { return name }
        let secret = request.identifyingFields
        var proofs = fields.filter { secret.contains($0.name) }.map {
            "\($0.name.canonicalName): \($0.value)"
        }
        if let digest = request.digest { proofs.append("digest \(digest.user):\(digest.password)") }
        if let userInfo { proofs.append("user info \(userInfo)") }
        guard !proofs.isEmpty else { return name }
        let text = proofs.sorted().joined(separator: "\n")
        return name + "/" + HexDigest.sha256(text.utf8)
    }

    /// The header fields that `request` would be sent with now; `nil` while a login is running or stored
    /// cookies are being read.
    func fields(of request: Request) -> HTTPFields? {
        var sent = request
        if let session, let account, !request.isCredentialFree {
            guard let authorized = try? session.authorized(request, for: account) else { return nil }
            sent = authorized
        }
        guard let jar, !request.isCredentialFree, let origin = cookieOrigin(of: request) else {
            return sent.headerFields
        }
        return jar.isRestored ? jar.adding(to: sent, at: origin, isSent: false)?.request.headerFields : nil
    }

    /// The cookies that the jar would add to `request` now.
    func cookies(of request: Request) -> String {
        guard let jar, !request.isCredentialFree, let origin = cookieOrigin(of: request) else { return "" }
        return jar.adding(to: request, at: origin, isSent: false)?.added ?? ""
    }

    private func cookieOrigin(of request: Request) -> CookieOrigin? {
        guard let servers else { return CookieOrigin(request.url) }
        return servers.cookieOrigin(of: request.url)
    }
}

extension CacheAsker {
    /// The requester for the account that is logged in.
    init(_ session: Session) {
        let account = session.account
        self.session = session
        self.account = account.number
        name = account.name
    }
}
