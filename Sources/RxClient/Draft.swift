import FoundationEssentials
import HTTPTypes
import RxHTTP

/// An endpoint's request with everything decided but its signature.
struct Draft: Sendable {
    private(set) var request: Request
    private let parameters: Parameters
    private let query: Parameters.Values
    private let link: URL?
    private let signature: Signature?
    private let configuration: ClientConfiguration

    /// Rewrites the endpoint's parameters and puts all but them together.
    ///
    /// - Parameter page: which page of the endpoint, if it has pages.
    /// - Throws: `invalidURL`, `invalidHeader` or `invalidParameters`; nothing has been sent then.
    init(
        _ endpoint: some Endpoint, configuration: ClientConfiguration, page: PagePlacement? = nil
    ) throws(NetworkError) {
        let path = try PathTemplate(endpoint.path).expanded(with: endpoint.pathValues)
        request = Request(
            method: endpoint.method, url: try configuration.url(for: path),
            timeouts: endpoint.timeouts ?? configuration.timeouts, bodyLimit: configuration.bodyLimit)
        request.secretFields = configuration.secretFields
        request.secretParameters = configuration.secretParameters
        request.isDeclaredIdempotent = endpoint.isIdempotent
        request.compression = endpoint.compression
        request.continuePolicy = endpoint.continuePolicy ?? configuration.continuePolicy
        if let authentication = configuration.authentication, !configuration.baseURL.isEmpty {
            try request.authenticate(by: authentication)
        }
        for (name, value) in configuration.headers { try request.setField(name, to: value) }
        if !configuration.baseURL.isEmpty, Origin(request.url) != configuration.baseOrigin {
            request.dropSecrets()
        }
        for (name, value) in endpoint.headers { try request.setField(name, to: value) }

        var parameters = try endpoint.rewrite(endpoint.parameters.adding(page?.parameters ?? [:]))
        if let rewrite = configuration.rewriteParameters, endpoint.usesParameterRewriting {
            parameters = try rewrite(parameters)
        }
        self.parameters = parameters
        query = endpoint.query
        link = page?.link
        signature = endpoint.isSigned ? configuration.signature : nil
        self.configuration = configuration
    }

    /// Whether each attempt has to be serialised anew.
    var isSigned: Bool { signature != nil }

    /// The request as it is sent, signed where it is to be.
    ///
    /// - Throws: `invalidParameters`, `invalidHeader`, what the signature throws, or `paging` for a page on another
    ///   origin that is not asked for by GET or HEAD.
    func serialized() throws(NetworkError) -> Request {
        let unsigned = try unsigned()
        guard let signature else { return unsigned }
        let content = Signature.Content(request: unsigned, parameters: try signedPairs(of: unsigned))
        let addition = try signature.sign(content)
        var signed =
            addition.parameters.isEmpty ? unsigned : try serialized(parameters.adding(addition.parameters))
        // Who sees a signature could send the request again.
        signed.secretParameters.formUnion(addition.parameters.keys)
        for (name, value) in addition.headers {
            try signed.setField(name, to: value)
            if let name = HTTPField.Name(name) { signed.secretFields.insert(name) }
        }
        return signed
    }

    /// The request without its signature, which may differ from one time to the next.
    func unsigned() throws(NetworkError) -> Request { try serialized(parameters) }

    private func serialized(_ parameters: Parameters) throws(NetworkError) -> Request {
        var request = request
        try parameters.apply(to: &request, configuration)
        if !query.isEmpty { try Parameters.query(query).apply(to: &request, configuration) }
        if let link { try request.follow(link) }
        return request
    }

    /// Query and body in canonical order: of what is in the URL already, and of the body's members.
    private func signedPairs(of request: Request) throws(NetworkError) -> [ParameterPair] {
        var pairs = request.queryPairs
        if !request.body.isEmpty { pairs += try parameters.signedPairs(configuration) }
        return pairs.sorted { ($0.name, $0.value) < ($1.name, $1.value) }
    }
}

extension Request {
    /// Goes to the page that a link leads to.
    fileprivate mutating func follow(_ link: URL) throws(NetworkError) {
        guard let origin = Origin(link) else {
            throw NetworkError(
                .invalidURL, "the link to the next page is no http or https URL", request: self)
        }
        if origin != Origin(url) {
            guard method == .get || method == .head else {
                throw NetworkError(
                    .paging, "the next page is on another origin, \(origin.host), where no \(method) is sent",
                    request: self)
            }
            dropSecrets()
        }
        url = link
    }

    /// The pairs of the URL's query, unescaped.
    fileprivate var queryPairs: [ParameterPair] {
        let parts = url.absoluteString.split(separator: "?", maxSplits: 1)
        guard parts.count == 2 else { return [] }
        return parts[1].prefix { $0 != "#" }.split(separator: "&").map { pair in
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = sides.count == 2 ? sides[1] : ""
            return (String(sides[0]).percentDecoded, String(value).percentDecoded)
        }
    }
}
