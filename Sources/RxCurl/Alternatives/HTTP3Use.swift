/// When requests of a transport ask for HTTP/3.
enum HTTP3Use {
    /// Never: it is not configured, this libcurl is not used for it, or there is a proxy or a Unix socket.
    case never
    /// Once the origin has advertised it (`Alt-Svc`).
    case whenNamed
    /// From the first request on, with a fallback.
    case always
    /// From the first request on, without a fallback.
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
