import FoundationEssentials
import HTTPTypes
public import RxLite

/// The rules for following redirects.
public struct RedirectPolicy: Sendable, Equatable {
    /// The most redirects of one request. Default 10; 0 returns every redirect to the caller.
    public var limit: Int

    /// Whether 301 and 302 repeat a POST with its body, as RFC 9110 §15.4 allows. Default false: they turn it
    /// into a GET, as browsers do.
    public var keepsPost: Bool

    /// Origins that receive a request's secrets when a redirect leads there: `Authorization`, `Cookie`,
    /// `Proxy-Authorization`, `Sec-WebSocket-Protocol`, the fields marked secret, and the session's credential.
    /// Redirects from https to http are never followed. Default none: secrets stay at their origin.
    public var trustedOrigins: Set<Origin>

    /// Whether every redirect fails with `invalidRedirect`.
    private var isRefusing = false

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - limit: the most redirects of one request. Default 10.
    ///   - keepsPost: whether 301 and 302 repeat a POST. Default false.
    ///   - trustedOrigins: the origins that may receive secrets. Default none.
    public init(limit: Int = 10, keepsPost: Bool = false, trustedOrigins: Set<Origin> = []) {
        self.limit = limit
        self.keepsPost = keepsPost
        self.trustedOrigins = trustedOrigins
    }

    /// Returns every redirect to the caller.
    public static let manual = RedirectPolicy(limit: 0)

    /// Every redirect (301, 302, 303, 307, 308) fails with `invalidRedirect`.
    public static let refused: RedirectPolicy = {
        var policy = RedirectPolicy.manual
        policy.isRefusing = true
        return policy
    }()

    /// The request that follows `head`, the response to `request`; `nil` if the response is not a redirect
    /// (RFC 9110 §15.4), for example because its `Location` is empty.
    ///
    /// 301 and 302 turn POST into GET unless ``keepsPost`` is set, 303 turns all methods except GET and HEAD
    /// into GET, 307 and 308 repeat method and body. If the body would have to be repeated but can be sent
    /// only once, the redirect is the response. An origin that differs and is not among the
    /// ``trustedOrigins`` receives the request without `Authorization`, `Cookie`, `Proxy-Authorization`,
    /// `Sec-WebSocket-Protocol`, the fields marked secret, and the additions of a credential or a signature to
    /// its fields, its content or its query.
    ///
    /// The `Location` of a request for another protocol may have the scheme ws or wss (RFC 6455 §3), too.
    ///
    /// - Throws: `tooManyRedirects` after `limit` redirects; `invalidRedirect` if the policy is ``refused``,
    ///   and for a redirect from https to http, to another scheme, to an invalid URL, or to several different
    ///   URLs.
    ///
    /// - Parameter upgrade: returns the https URL for an http URL whose host requires TLS.
    func redirect(
        _ request: Request, to head: ResponseHead, count: Int, upgrading upgrade: (URL) -> URL? = { _ in nil }
    ) throws(NetworkError) -> Request? {
        guard 300..<400 ~= head.status.code else { return nil }
        if isRefusing, [301, 302, 303, 307, 308].contains(head.status.code) {
            throw NetworkError(
                .invalidRedirect, "the response is a redirect, and the redirect policy refuses all",
                request: request)
        }
        guard limit > 0, head[.location]?.isEmpty == false else { return nil }
        var next = request
        switch head.status.code {
        case 301, 302: if request.method == .post, !keepsPost { next.turnIntoGet() }
        case 303: if request.method != .head, request.method != .get { next.turnIntoGet() }
        case 307, 308: break
        default: return nil
        }
        guard next.body.isReplayable else { return nil }
        let locations = Set(head.escapedValues(of: .location))
        guard let location = locations.first, locations.count == 1,
            case let reference = request.upgrade == nil ? location : location.withHTTPScheme,
            let named = URL(reference: reference, base: request.url)?.inheritingFragment(of: request.url),
            case let target = upgrade(named) ?? named,
            let origin = Origin(target)
        else {
            throw NetworkError(
                .invalidRedirect, "the redirect's Location is ambiguous or not a valid http or https URL",
                request: request)
        }
        if origin != Origin(request.url) {
            if request.url.scheme?.lowercased() == "https" && origin.scheme == "http" {
                throw NetworkError(
                    .invalidRedirect, "a redirect from https to http is not followed", request: request)
            }
        }
        guard count < limit else {
            throw NetworkError(.tooManyRedirects, "more than \(limit) redirects", request: request)
        }
        // Before the secrets are dropped: the target may repeat those of the URL.
        next.move(to: target, reference: reference)
        if origin != Origin(request.url), !trustedOrigins.contains(origin) { next.dropSecrets() }
        // Again, because the content before a signature may be back.
        guard next.body.isReplayable else { return nil }
        next.canStartOver = request.canStartOver && request.isIdempotent && request.body.isReplayable
        return next
    }
}

extension URL {
    /// The URL with the fragment of the URL that led here, if it has none (RFC 9110 §10.2.2).
    fileprivate func inheritingFragment(of other: URL) -> URL? {
        guard fragment == nil, let inherited = other.fragment(percentEncoded: true) else { return self }
        return URL(string: absoluteString + "#" + inherited)
    }
}

extension Request {
    fileprivate mutating func turnIntoGet() {
        method = .get
        body = .empty
        compressesContent = false
        for name in [.contentType, .contentEncoding, .contentLanguage, .contentLocation] as [HTTPField.Name] {
            headerFields[name] = nil
        }
    }
}

extension Transport {
    /// Sends `request` and follows the redirects that `policy` allows, each as soon as its head has arrived.
    /// Each new request is announced by ``TransferEvent/redirected(_:by:)``.
    ///
    /// Requests and redirect targets whose host is in ``Transport/hsts`` go to https. For the first request
    /// this is announced like a redirect, by a head that no server has sent: 307 with
    /// `Non-Authoritative-Reason: HSTS`. It does not count as a redirect.
    public func send(
        _ request: Request, following policy: RedirectPolicy
    ) -> Observable<TransferEvent, NetworkError> {
        let first = authenticated(request)
        guard let hsts else {
            return Observable(scheduler: first.scheduler) { follow(policy, from: request, first, into: $0) }
        }
        return Observable(scheduler: first.scheduler) { observer in
            guard !hsts.isRestored else { return upgrade(request, by: hsts, policy, into: observer) }
            hsts.restored.flatMap {
                Observable(scheduler: first.scheduler) { upgrade(request, by: hsts, policy, into: $0) }
            }
            .subscribe(observer)
        }
    }

    /// Sends the request over TLS if its host requires TLS. The stage `Redirects` of RxClient does the same; change
    /// both.
    private func upgrade(
        _ request: Request, by hsts: HSTSStore, _ policy: RedirectPolicy,
        into observer: Observer<TransferEvent, NetworkError>
    ) {
        let upgraded = request.upgraded(by: hsts, at: scheduler.currentDate)
        if let upgraded { observer.next(.redirected(upgraded, by: .upgrade)) }
        guard observer.scope.isOpen else { return }
        let request = upgraded ?? request
        follow(policy, from: request, authenticated(request), into: observer)
    }

    private func follow(
        _ policy: RedirectPolicy, from request: Request, _ first: Observable<TransferEvent, NetworkError>,
        into observer: Observer<TransferEvent, NetworkError>
    ) {
        let chain = ExchangeChain(from: request, into: observer) {
            head, request, count throws(NetworkError) in
            try redirect(request, to: head, by: policy, count: count).map {
                .init(request: $0, announcement: .redirected($0, by: head), exchange: authenticated($0))
            }
        }
        chain.start(first)
    }

    /// The request that follows `head`, the response to `request`; `nil` if the response is not a redirect that `policy`
    /// follows. A target whose host requires TLS goes to https.
    ///
    /// - Parameter count: the number of redirects before this one.
    package func redirect(
        _ request: Request, to head: ResponseHead, by policy: RedirectPolicy, count: Int
    ) throws(NetworkError) -> Request? {
        try policy.redirect(request, to: head, count: count) { url in
            hsts?.upgrade(url, at: scheduler.currentDate)
        }
    }
}
