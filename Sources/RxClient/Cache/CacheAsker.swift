import HTTPTypes
import RxCache
import RxCookies
import RxHTTP

/// The account and the cookies that a request goes out with, as far as responses must be kept apart by them. The one
/// place where a cache learns whose a response is.
struct CacheAsker: Sendable {
    /// The caller's name for whoever asks; empty for nobody.
    var name = ""
    /// Places the credential, if there is one.
    var session: Session?
    /// The number of the session's account.
    var account: Int?
    /// Adds cookies, if there are any.
    var jar: CookieJar?
    /// The service whose servers have their cookies in common.
    var servers: ServerPair?

    /// A name for whoever asks by `request`: the account that is logged in, and a digest of what the request has of its
    /// own in `Authorization`, `Cookie`, `Proxy-Authorization` and its secret fields, and of the user and password for a
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

    /// The header fields that `request` would be sent with at this moment; `nil` while a login or the reading of stored
    /// cookies has to be waited for.
    func fields(of request: Request) -> HTTPFields? {
        var sent = request
        if let session, !request.isCredentialFree {
            guard let authorized = try? session.authorized(request) else { return nil }
            sent = authorized
        }
        guard let jar, !request.isCredentialFree, let origin = cookieOrigin(of: request) else {
            return sent.headerFields
        }
        return jar.isRestored ? jar.adding(to: sent, at: origin, isSent: false)?.request.headerFields : nil
    }

    /// The cookies that the jar would add to `request` at this moment.
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
    /// The account that is logged in.
    init(_ session: Session) {
        let account = session.account
        self.session = session
        self.account = account.number
        name = account.name
    }
}
