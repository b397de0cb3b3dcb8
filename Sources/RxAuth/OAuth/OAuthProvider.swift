#if Auth
import FoundationEssentials
import HTTPTypes
public import RxHTTP
public import RxLite
import RxParameters
import Synchronization

extension OAuth {
    /// An authorization server. Copies share its metadata and keys, which are fetched when they are needed and kept for an
    /// hour.
    public struct Provider: Sendable {
        let source: ProviderSource

        /// The server with an issuer identifier.
        ///
        /// The metadata are those of RFC 8414 or, if the server has none of these, or a page in their place, of OpenID
        /// Connect Discovery.
        ///
        /// - Parameter issuer: the issuer identifier: an https URL without query and fragment, or an http URL of a
        ///   loopback address. Any other fails with `oauthMetadata` when it is used.
        public static func discover(_ issuer: String) -> Provider {
            Provider(source: ProviderSource(.issuer(issuer)))
        }

        /// A server that publishes no metadata.
        ///
        /// Endpoints are https URLs, or http URLs of loopback addresses; with any other, uses fail with `oauthMetadata`.
        ///
        /// - Parameter metadata: its metadata.
        public static func known(_ metadata: Metadata) -> Provider {
            Provider(source: ProviderSource(.metadata(metadata)))
        }

        /// The server of a protected resource, by the metadata of the resource (RFC 9728).
        ///
        /// The resource names its server in its metadata, at the URL in the challenge of a response or at the well-known
        /// URL. Tokens are requested for the resource only (RFC 8707), and refresh tokens are sent to the server that
        /// issued them only. Without scopes from the app, those of the challenge are requested, or those that the
        /// metadata name.
        ///
        /// - Parameter resource: the URL of the resource, for example of an API.
        public static func protecting(_ resource: String) -> Provider {
            Provider(source: ProviderSource(.resource(resource)))
        }

        /// The metadata of the server: one value, then completion.
        ///
        /// - Parameter transport: sends the requests.
        public func metadata(through transport: any Transport) -> Observable<Metadata, NetworkError> {
            source.server(in: OAuthContext(transport: transport)).map(\.metadata)
        }
    }
}

extension OAuth.Provider: RedactedDescription {
    /// The issuer or the resource.
    public var description: String {
        switch source.startingPoint {
        case .issuer(let issuer): "authorization server \(issuer.originAndPath)"
        case .metadata(let metadata): "authorization server \(metadata.issuer.originAndPath)"
        case .resource(let resource): "authorization server of \(resource.originAndPath)"
        }
    }
}

/// An authorization server whose metadata are known.
struct OAuthServer: Sendable {
    let metadata: OAuth.Metadata
    let keys: KeySetCache
    /// The metadata of the resource that has led to the server.
    var resource: OAuth.ResourceMetadata?
}

/// The metadata of one provider, and the fetch that gets them.
final class ProviderSource: Sendable {
    /// What the app has configured, from which the metadata are found.
    enum StartingPoint: Sendable {
        case issuer(String)
        case metadata(OAuth.Metadata)
        case resource(String)
    }

    let startingPoint: StartingPoint
    private let state = Mutex(State())

    private struct State {
        var server: (OAuthServer, until: Date)?
        var keys: [String: KeySetCache] = [:]
        /// The running fetch, which later requests join.
        var running: (number: Int, stream: Observable<OAuthServer, NetworkError>)?
        /// The number of the fetch that began last.
        var lastNumber = 0
        /// The URL of the resource's metadata, from a challenge.
        var challenge: String?
    }

    /// The hour in the documentation of ``OAuth/Provider``, in seconds.
    private static let lifetime: TimeInterval = 3600

    init(_ startingPoint: StartingPoint) { self.startingPoint = startingPoint }

    /// Whether the issuer depends on a resource, and so may change.
    var isResource: Bool { if case .resource = startingPoint { true } else { false } }

    /// Learns the URL of the resource's metadata from a challenge (RFC 9728 §5.1), and fetches them again for the next
    /// login.
    func receive(challenge url: String) {
        guard case .resource(let resource) = startingPoint, let target = OAuthURL(url), target.isSecure,
            target.origin == OAuthURL(resource)?.origin
        else { return }
        state.withLock { state in
            guard state.challenge != url else { return }
            state.challenge = url
            state.server = nil
        }
    }

    /// Fetches the metadata again for the next login, because the server may have changed.
    func expire() { if isResource { state.withLock { $0.server = nil } } }

    func server(in context: OAuthContext) -> Observable<OAuthServer, NetworkError> {
        .deferred { [self] in
            let date = context.date
            return state.withLock { state in
                if let (server, until) = state.server, date < until { return .just(server) }
                // `KeySetCache` and `AWSCredentialCache` share their fetches in the same way.
                if let running = state.running { return running.stream }
                state.lastNumber += 1
                let number = state.lastNumber
                let stream = fetch(state.challenge, context)
                    .handleEvents(onNext: { self.receive($0, at: context.date) })
                    .handleEvents(onEnd: { _ in self.forget(number) }, onCancel: { self.forget(number) })
                    // Who got the stream before it ended, and subscribes later, still gets its value.
                    .share(replay: 1, reset: .unused)
                state.running = (number, stream)
                return stream
            }
        }
    }

    private func receive(_ server: OAuthServer, at date: Date) {
        state.withLock { $0.server = (server, date.addingTimeInterval(Self.lifetime)) }
    }

    /// Forgets a fetch that has ended or was cancelled, so that later requests fetch again.
    private func forget(_ number: Int) {
        state.withLock { state in
            if state.running?.number == number { state.running = nil }
        }
    }

    private func server(
        _ metadata: OAuth.Metadata, resource: OAuth.ResourceMetadata? = nil
    ) -> OAuthServer {
        let keys = state.withLock { state in
            let keys = state.keys[metadata.issuer] ?? KeySetCache()
            // A resource that names ever new servers must not fill the memory.
            if state.keys.count >= 16 { state.keys = [:] }
            state.keys[metadata.issuer] = keys
            return keys
        }
        return OAuthServer(metadata: metadata, keys: keys, resource: resource)
    }

    private func fetch(
        _ challenge: String?, _ context: OAuthContext
    ) -> Observable<OAuthServer, NetworkError> {
        .deferred { [self] () throws(NetworkError) in
            switch startingPoint {
            case .metadata(let metadata):
                try metadata.checkEndpoints()
                return .just(server(metadata))
            case .issuer(let issuer):
                return try Self.metadata(of: issuer, context).map { self.server($0) }
            case .resource(let resource):
                return try Self.metadata(ofResource: resource, challenge, context)
                    .flatMap { found throws(NetworkError) -> Observable<OAuthServer, NetworkError> in
                        // The resource chooses the order of its servers.
                        try Self.metadata(of: found.authorizationServers[0], context)
                            .map { self.server($0, resource: found) }
                    }
            }
        }
    }

    // MARK: - Discovery

    private static func metadata(
        of issuer: String, _ context: OAuthContext
    ) throws(NetworkError) -> Observable<OAuth.Metadata, NetworkError> {
        guard let url = OAuthURL(issuer), url.isSecure, url.url.query() == nil, url.url.fragment == nil else {
            throw .oauthMetadata(
                "the issuer \(issuer.originAndPath) is not an https URL without user info, query and fragment (http is "
                    + "for loopback addresses)")
        }
        var candidates = [
            url.wellKnown("oauth-authorization-server"), url.wellKnown("openid-configuration"),
        ]
        if !url.path.isEmpty {
            candidates.append(
                URL(string: url.url.absoluteString.trimmedSlash + "/.well-known/openid-configuration"))
        }
        return first(
            of: candidates.compactMap { $0 }, "the authorization server \(issuer.originAndPath)", context
        )
        .map { document throws(NetworkError) in
            try OAuth.Metadata(document, issuer: issuer)
        }
    }

    private static func metadata(
        ofResource resource: String, _ challenge: String?, _ context: OAuthContext
    ) throws(NetworkError) -> Observable<OAuth.ResourceMetadata, NetworkError> {
        guard let url = OAuthURL(resource), url.isSecure, url.url.fragment == nil else {
            throw .oauthMetadata(
                "the resource \(resource.originAndPath) is not an https URL without a fragment")
        }
        var candidates = [challenge.flatMap { URL(string: $0) }, url.wellKnown("oauth-protected-resource")]
        if !url.path.isEmpty { candidates.append(url.wellKnown("oauth-protected-resource", withPath: false)) }
        return first(of: candidates.compactMap { $0 }, "the resource \(resource.originAndPath)", context)
            .map { document throws(NetworkError) in
                try OAuth.ResourceMetadata(document, for: resource)
            }
    }

    /// The document at the first URL where there is one.
    ///
    /// - Parameter page: the content of a former URL, which is no JSON object: some servers answer every unknown URL with
    ///   a page. It is the document if there is no better one.
    private static func first(
        of urls: [URL], _ subject: String, _ context: OAuthContext, otherwise page: [UInt8]? = nil
    ) -> Observable<[UInt8], NetworkError> {
        guard let url = urls.first else {
            if let page { return .just(page) }
            return .fail(.oauthMetadata("\(subject) publishes no metadata; use OAuth.Provider.known(_:)"))
        }
        return context.response(to: OAuthContext.request(.get, url))
            .mapError { error in
                error.code == .tooLarge
                    ? .oauthMetadata(
                        "the metadata of \(subject) have more than \(OAuthContext.responseLimit) bytes")
                    : .oauthMetadata("the metadata of \(subject) cannot be fetched", because: error)
            }
            .flatMap { response throws(NetworkError) -> Observable<[UInt8], NetworkError> in
                switch response.status.code {
                case 200:
                    if case .object? = JSONValue(parsing: response.body) { return .just(response.body) }
                    return first(
                        of: Array(urls.dropFirst()), subject, context, otherwise: page ?? response.body)
                case 400..<500 where response.status.code != 429:
                    return first(of: Array(urls.dropFirst()), subject, context, otherwise: page)
                case 300..<400:
                    throw .oauthMetadata(
                        "\(subject) redirects the request for its metadata; use the issuer it moved to")
                default:
                    throw .oauthMetadata(
                        "\(subject) answered with status \(response.status.code) instead of its metadata; try again later"
                    )
                }
            }
    }
}

extension String {
    fileprivate var trimmedSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}
#endif
