import FoundationEssentials
import HTTPTypes
import RxHTTP

extension Request {
    /// Serialises an endpoint: URL, header fields, parameters.
    ///
    /// - Throws: `invalidURL`, `invalidHeader`, `invalidParameters`, or `paging` for a page on another origin
    ///   that is not asked for by GET or HEAD; nothing has been sent then.
    ///
    /// - Parameter page: which page of the endpoint, if it has pages.
    init(
        _ endpoint: some Endpoint, configuration: ClientConfiguration, page: PagePlacement? = nil
    ) throws(NetworkError) {
        self.init(
            method: endpoint.method, url: try configuration.url(for: endpoint.path),
            timeouts: endpoint.timeouts ?? configuration.timeouts, bodyLimit: configuration.bodyLimit)
        secretFields = configuration.secretFields
        isDeclaredIdempotent = endpoint.isIdempotent
        for (name, value) in configuration.headers { try setField(name, to: value) }
        if !configuration.baseURL.isEmpty, Origin(url) != configuration.baseOrigin { dropSecrets() }
        for (name, value) in endpoint.headers { try setField(name, to: value) }
        try endpoint.parameters.adding(page?.parameters ?? [:]).apply(to: &self, configuration.encoder)
        if !endpoint.query.isEmpty {
            try Parameters.query(endpoint.query).apply(to: &self, configuration.encoder)
        }
        guard let link = page?.link else { return }
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
}

extension ClientConfiguration {
    /// The origin of the base URL; `nil` if it is no absolute http or https URL.
    var baseOrigin: Origin? { URL(string: baseURL).flatMap { Origin($0) } }

    /// The URL that a path stands for: below the base URL, or an absolute one of the same origin.
    func url(for path: String) throws(NetworkError) -> URL {
        if ["http://", "https://"].contains(where: { path.prefix($0.count).lowercased() == $0 }) {
            let (url, origin) = try Self.parse(path)
            guard allowsOtherOrigins || baseURL.isEmpty || origin == baseOrigin else {
                throw NetworkError(.invalidURL, "\(origin.host) is another origin than the base URL's")
            }
            return url
        }
        guard let baseOrigin, !baseURL.contains(where: { $0 == "?" || $0 == "#" }) else {
            let problem = "is no absolute http or https URL without query and fragment"
            throw NetworkError(.invalidURL, "the base URL \(baseURL.withoutSecrets) \(problem)")
        }
        let (url, origin) = try Self.parse(path.isEmpty ? baseURL : Self.join(baseURL, path))
        guard origin == baseOrigin else {
            throw NetworkError(.invalidURL, "\(path.withoutSecrets) leaves the base URL's origin")
        }
        return url
    }

    private static func parse(_ text: String) throws(NetworkError) -> (URL, Origin) {
        guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
            throw NetworkError(.invalidURL, "\(text.withoutSecrets) holds a space or a control character")
        }
        guard let url = URL(string: text), let origin = Origin(url) else {
            throw NetworkError(.invalidURL, "\(text.withoutSecrets) is no absolute http or https URL")
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

extension String {
    /// What may be a URL, quoted for an error: without user info, query and fragment.
    var withoutSecrets: String {
        let shown = prefix { $0 != "?" && $0 != "#" }
        guard let at = shown.lastIndex(of: "@") else { return String(shown).debugDescription }
        return String(shown[at...]).debugDescription
    }
}
