import FoundationEssentials
import HTTPTypes
import RxCache
import RxHTTP
import RxLite
import RxParameters

/// An endpoint's request, with everything decided except its attempts.
final class PreparedRequest: Sendable {
    /// The request to the main server, unless its URL is outside of the service; as far as the parameters could be written.
    let request: Request
    /// Why the parameters could not be written.
    private let failure: NetworkError?
    /// The service's servers when the request was prepared.
    let servers: ServerPair
    /// The server that the endpoint chooses; `nil` for the active one.
    let server: Servers.Role?
    let merged: MergedOptions
    let scheduler: any Scheduler
    /// Whether the URL is below a base URL and therefore valid at each of the servers; an absolute URL may be
    /// elsewhere.
    let isAtService: Bool
    /// The request without its parameters, and the parameters. Kept only if a signature may add parameters, so that URL and
    /// body are written again, or if a link has taken the place of the URL.
    private let source: (request: Request, parameters: Parameters)?
    /// The link of the page before to this page, if it has one; it takes the place of the URL.
    private let link: URL?
    private let signature: Signature?
    private let client: Client

    /// Rewrites the endpoint's parameters, and prepares everything else of the request. Parameters that cannot be written are
    /// an error of ``serialized()``.
    ///
    /// - Parameters:
    ///   - client: the client, whose configuration applies where the endpoint leaves an option open.
    ///   - scheduler: the scheduler of the call.
    ///   - server: the server of the request; `nil` for the endpoint's choice.
    ///   - page: the page of the endpoint, if it has pages.
    /// - Throws: `invalidURL`, `invalidHeader` or `invalidParameters`, before anything is sent.
    init(
        _ endpoint: some Endpoint, of client: Client, on scheduler: any Scheduler,
        at server: Servers.Role? = nil, page: PageRequest? = nil
    ) throws(NetworkError) {
        self.client = client
        self.scheduler = scheduler
        servers = client.servers.pair
        merged = client.merged(endpoint.options)
        self.server = server ?? merged.values.server
        var (request, isAtMain) = try Self.request(endpoint, of: client, at: servers)
        if self.server == .standby, servers.standby == nil {
            throw NetworkError(
                .invalidURL, "the endpoint requires the standby server, but the client has no standbyURL")
        }
        link = page?.link.map { [servers] in servers.url($0, at: servers.main) ?? $0 }
        isAtService = link.map { [servers] in servers.url($0, at: servers.main) != nil } ?? isAtMain
        if let timeouts = merged.values.timeouts, timeouts != request.timeouts { request.timeouts = timeouts }
        if let policy = merged.values.continuePolicy { request.continuePolicy = policy }
        if merged.values.isIdempotent == true { request.isDeclaredIdempotent = true }
        // Otherwise a POST that is stored would remove responses to GET. `CachedRequest.prepare(_:revalidating:)` does the
        // same.
        if request.method == .post, case .post = merged.values.cachePolicy { request.isDeclaredSafe = true }
        if let compresses = merged.values.compressesContent { request.compressesContent = compresses }
        if merged.values.decodesContent == false { request.decodesContent = false }
        if !merged.ownHeaders.fields.isEmpty { try request.setFields(merged.ownHeaders) }

        var parameters = endpoint.parameters
        if let page, !page.parameters.isEmpty { parameters = parameters.adding(page.parameters) }
        parameters = try endpoint.rewrite(parameters)
        if merged.values.usesParameterRewriting != false, let rewrite = client.configuration.rewriteParameters
        {
            parameters = try rewrite(parameters)
        }
        signature = merged.values.isSigned == false ? nil : client.configuration.signature
        source = signature != nil || link != nil ? (request, parameters) : nil
        do throws(NetworkError) {
            // Changed in place: nothing else holds the request, unless `source` does.
            try request.write(parameters, with: client.parameterDefaults)
            if let link { try request.follow(link, within: servers) }
            failure = nil
        } catch {
            failure = error
        }
        self.request = request
    }

    /// A request built by hand, unchanged.
    init(_ request: Request, of client: Client, on scheduler: any Scheduler) {
        self.client = client
        self.scheduler = scheduler
        self.request = request
        servers = client.servers.pair
        server = nil
        merged = .none
        link = nil
        isAtService = false
        source = nil
        failure = nil
        signature = nil
    }

    /// Whether requests of `endpoint` may carry the session's credential, by the rules of
    /// `CallContext.session` and the stage ``Authorization``; change all three.
    static func mayCarryCredential(_ endpoint: some Endpoint, of client: Client) -> Bool {
        let servers = client.servers.pair
        guard !servers.main.baseURL.isEmpty, client.merged(endpoint.options).values.usesSession != false
        else {
            return false
        }
        return (try? request(endpoint, of: client, at: servers).0.isCredentialFree) == false
    }

    /// Applies the client's template to the endpoint's path; also returns whether the URL is below the main
    /// server's URL.
    private static func request(
        _ endpoint: some Endpoint, of client: Client, at servers: ServerPair
    ) throws(NetworkError) -> (Request, isAtMain: Bool) {
        let path = try PathTemplate(endpoint.path).expanded(with: endpoint.pathValues)
        if let url = servers.main.plainURL(of: path) {
            return (try client.template.request(endpoint.method, at: url), true)
        }
        let url = try servers.url(
            for: path, allowingOtherOrigins: client.configuration.allowsOtherOrigins)
        let urlAtMain = servers.url(url, at: servers.main)
        var request = try client.template.request(endpoint.method, at: urlAtMain ?? url)
        if servers.main.baseURL.isEmpty {
            // The configuration's secrets belong to no origin here. A cookie jar knows the origins of its
            // cookies.
            request.dropSecretFields()
        } else if urlAtMain == nil, !servers.trusts(Origin(url)) {
            request.dropSecrets()
        }
        return (request, urlAtMain != nil)
    }

    /// The endpoint's options, merged with the client's.
    var options: RequestOptions.Values { _read { yield merged.values } }

    /// Whether the request may carry credentials. Without a base URL they belong to no origin.
    var carriesCredentials: Bool { !servers.main.baseURL.isEmpty }

    /// The request before its attempts, without a signature, which may differ between attempts.
    ///
    /// - Throws: `invalidParameters`, `invalidHeader`, or `paging` for a page on another origin with a method
    ///   other than GET and HEAD.
    func serialized() throws(NetworkError) -> Request {
        if let failure { throw failure }
        return request
    }

    /// The URL of the endpoint, if the link of a page has taken its place.
    var endpointURL: URL? { link == nil ? nil : source?.request.url }

    /// Signs `request`, if the endpoint's requests are signed. If the signature adds parameters, this makes
    /// URL and body again, and interceptors must not have changed them.
    ///
    /// - Parameters:
    ///   - original: the request as ``serialized()`` returned it.
    ///   - server: the server of the request; `nil` for the main server.
    /// - Throws: the error of the signature, or `invalidParameters`.
    func signed(
        _ request: Request, from original: Request, at server: Server? = nil
    ) throws(NetworkError) -> Request {
        guard let signature, let source, carriesCredentials, !request.isCredentialFree else {
            return request
        }
        var (request, original) = (request, original)
        var addition = try signature.sign(
            Signature.Content(
                request: request, parameters: try signedPairs(of: request, source.parameters)))
        if link != nil, request.removeQuery(named: addition.parameters.keys) {
            // The server repeated the signature of the page before in its link.
            _ = original.removeQuery(named: addition.parameters.keys)
            addition = try signature.sign(
                Signature.Content(
                    request: request, parameters: try signedPairs(of: request, source.parameters)))
        }
        var signed = request
        // Anyone who can read a signature could replay the request.
        try signed.addSecrets { request throws(NetworkError) in
            if !addition.parameters.isEmpty {
                guard request.urlText == moved(original, to: server).urlText,
                    !request.body.differs(from: original.body)
                else {
                    throw NetworkError(
                        .invalidParameters,
                        "an interceptor changed the URL or body, so the signature cannot add parameters",
                        request: request)
                }
                var whole = source.request
                try whole.write(
                    source.parameters.adding(addition.parameters), with: client.parameterDefaults)
                if let link { try whole.follow(link, within: servers) }
                whole = moved(whole, to: server)
                if link != nil {
                    // The link has the query of the page already, so only the signature's part is added to it.
                    whole.url = request.url
                    if !whole.body.differs(from: original.body) {
                        try Parameters.query(addition.parameters).apply(
                            to: &whole, with: client.parameterDefaults)
                    }
                }
                (request.url, request.body) = (whole.url, whole.body)
                request.headerFields[.contentType] = whole.headerFields[.contentType]
            }
            try request.setFields(addition.headers)
        }
        signed.secretParameters.formUnion(addition.parameters.keys)
        return signed
    }

    /// `request`, directed to another server of the service.
    func moved(_ request: Request, to server: Server?) -> Request {
        guard let server, server !== servers.main, isAtService,
            let url = servers.url(request.url, at: server)
        else { return request }
        var request = request
        request.url = url
        if !servers.trusts(server.origin) { request.dropSecrets() }
        return request
    }

    /// The pairs of query and body, including the query that is part of the URL, in the order that
    /// ``Signature/Content`` promises: servers verify it.
    private func signedPairs(
        of request: Request, _ parameters: Parameters
    ) throws(NetworkError) -> [ParameterPair] {
        var pairs = request.queryPairs
        if !request.body.isEmpty {
            pairs += try parameters.signedPairs(for: self.request.method, with: client.parameterDefaults)
        }
        return pairs.sorted { ($0.name, $0.value) < ($1.name, $1.value) }
    }
}

extension Body {
    /// Whether the two bodies are certain to differ.
    fileprivate func differs(from other: Body) -> Bool {
        switch other {
        case .empty, .bytes: !isSame(as: other)
        default: false
        }
    }
}

extension Request {
    /// Writes the parameters into query and body.
    fileprivate mutating func write(
        _ parameters: Parameters, with defaults: ParameterDefaults
    ) throws(NetworkError) {
        try parameters.apply(to: &self, with: defaults)
        if let model = parameters.urlQueryModel {
            try Parameters.query(model).apply(to: &self, with: defaults)
        }
        if !parameters.urlQuery.isEmpty {
            try Parameters.query(parameters.urlQuery).apply(to: &self, with: defaults)
        }
    }

    /// Changes the URL to the page that a link leads to.
    ///
    /// - Parameter servers: the servers of the service, between which secrets may move.
    fileprivate mutating func follow(_ link: URL, within servers: ServerPair) throws(NetworkError) {
        guard let origin = Origin(link) else {
            throw NetworkError(
                .invalidURL, "the link to the next page is not an http or https URL", request: self)
        }
        let isElsewhere =
            origin != Origin(url) && !(servers.trusts(origin) && servers.trusts(Origin(url)))
        if isElsewhere {
            guard method == .get || method == .head else {
                throw NetworkError(
                    .paging,
                    "the next page is on another origin, \(origin.host); only GET and HEAD are sent there",
                    request: self)
            }
        }
        url = link
        if isElsewhere { dropSecrets() }
    }

    /// Removes the pairs with these names from the URL's query, and returns whether there were any.
    fileprivate mutating func removeQuery(named names: some Collection<String>) -> Bool {
        let text = url.absoluteString
        let end = text.firstIndex(of: "#") ?? text.endIndex
        guard let start = text[..<end].firstIndex(of: "?") else { return false }
        let pairs = text[text.index(after: start)..<end].split(
            separator: "&", omittingEmptySubsequences: false)
        let kept = pairs.filter { pair in !names.contains(String(pair.prefix { $0 != "=" }).percentDecoded) }
        guard kept.count < pairs.count else { return false }
        let query = kept.isEmpty ? "" : "?" + kept.joined(separator: "&")
        guard let url = URL(string: text[..<start] + query + text[end...]) else { return false }
        self.url = url
        return true
    }

    /// The unescaped pairs of the URL's query.
    fileprivate var queryPairs: [ParameterPair] {
        let parts = url.absoluteString.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1)
        guard parts.count == 2 else { return [] }
        return parts[1].split(separator: "&").map { pair in
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = sides.count == 2 ? sides[1] : ""
            return (String(sides[0]).percentDecoded, String(value).percentDecoded)
        }
    }
}

// MARK: - The common base

/// The common base of all requests of a client: made once, and shared by the requests until one is changed.
struct RequestTemplate: Sendable {
    /// A request without a destination.
    private let request: Request
    /// The error in the configuration's fields, which every request fails with.
    private let flaw: NetworkError?

    init(_ configuration: ClientConfiguration) {
        var request = Request(
            url: URL(filePath: "/"), timeouts: configuration.options.timeouts ?? Timeouts(),
            bodyLimit: configuration.bodyLimit)
        request.secretFields = configuration.secretFields
        request.secretParameters = configuration.secretParameters
        do throws(NetworkError) {
            if let userAgent = configuration.userAgent { try request.setField(.userAgent, to: userAgent) }
            if let authentication = configuration.authentication {
                try request.authenticate(by: authentication)
            }
            try request.setFields(configuration.options.headers)
            flaw = nil
        } catch {
            flaw = error
        }
        self.request = request
    }

    /// - Throws: `invalidHeader` or `invalidParameters` for errors in the configuration.
    func request(_ method: HTTPRequest.Method, at url: URLText) throws(NetworkError) -> Request {
        try checked(Request(like: request, method: method, url: url))
    }

    /// A request for any URL, based on the common parts of the client's requests.
    ///
    /// - Throws: `invalidHeader` or `invalidParameters` for errors in the configuration.
    func request(_ method: HTTPRequest.Method, at url: URL) throws(NetworkError) -> Request {
        try checked(Request(like: request, method: method, url: url))
    }

    private func checked(_ request: Request) throws(NetworkError) -> Request {
        if let flaw { throw flaw.attributed(to: request) }
        return request
    }
}
