/// When requests of a transport ask for HTTP/3.
enum HTTP3Use {
    /// Never: it is not wanted, libcurl is not asked for it, or a proxy or a Unix socket is in between.
    case never
    /// Where the origin has named it (`Alt-Svc`).
    case whenNamed
    /// At once.
    case always
    /// At once, and nothing else.
    case only

    init(
        _ configuration: CurlTransport.Configuration, _ features: LibcurlFeatures, isDirect: Bool
    ) {
        let isPossible = features.usesHTTP3 && isDirect
        switch configuration.httpVersion {
        case .automatic: self = isPossible && configuration.tls.verifiesServer ? .whenNamed : .never
        case .http3: self = isPossible ? .always : .never
        case .http3Only: self = .only
        case .http1, .http2, .http2PriorKnowledge: self = .never
        }
    }
}

/// How one transfer asks for HTTP/3.
enum HTTP3Request {
    case none
    /// In a race with the lower versions (`CURL_HTTP_VERSION_3`).
    case raced
    /// Without a fallback (`CURL_HTTP_VERSION_3ONLY`).
    case only
}
