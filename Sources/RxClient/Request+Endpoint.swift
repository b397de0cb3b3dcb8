import FoundationEssentials
import HTTPTypes
import RxHTTP

extension Request {
    /// Serialises an endpoint: URL, header fields, parameters.
    ///
    /// - Throws: `invalidURL`, `invalidHeader` or `invalidParameters`; nothing has been sent then.
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
        for (name, value) in endpoint.headers { try setField(name, to: value) }
        try endpoint.parameters.adding(page?.parameters ?? [:]).apply(to: &self, configuration.encoder)
        if !endpoint.query.isEmpty {
            try Parameters.query(endpoint.query).apply(to: &self, configuration.encoder)
        }
        guard let link = page?.link else { return }
        isCredentialFree = Origin(link) != Origin(url)
        if isCredentialFree { dropSecrets() }
        url = link
    }
}

extension ClientConfiguration {
    /// The URL that a path stands for: below the base URL, or an absolute one of the same origin.
    func url(for path: String) throws(NetworkError) -> URL {
        let isAbsolute = path.hasPrefix("http://") || path.hasPrefix("https://")
        let text =
            if isAbsolute || path.isEmpty {
                isAbsolute ? path : baseURL
            } else {
                Self.join(baseURL, path)
            }
        guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
            throw NetworkError(.invalidURL, "\(text.debugDescription) holds a space or a control character")
        }
        guard let url = URL(string: text), let origin = Origin(url) else {
            throw NetworkError(.invalidURL, "\(text.debugDescription) is no absolute http or https URL")
        }
        guard
            !isAbsolute || allowsOtherOrigins || baseURL.isEmpty
                || origin == URL(string: baseURL).flatMap(Origin.init)
        else {
            throw NetworkError(.invalidURL, "\(origin.host) is another origin than \(baseURL)'s")
        }
        return url
    }

    private static func join(_ base: String, _ path: String) -> String {
        switch (base.hasSuffix("/"), path.hasPrefix("/")) {
        case (true, true): base + path.dropFirst()
        case (false, false): path.hasPrefix("?") ? base + path : base + "/" + path
        default: base + path
        }
    }
}
