internal import RxHTTP

extension CurlTransport {
    /// Throws if the request may only be sent over HTTP/3 and cannot be.
    func checkVersion(_ target: CheckedURL, of request: Request) throws(NetworkError) {
        guard multi.settings.http3 == .only else { return }
        if target.isPlain {
            throw NetworkError(.invalidURL, "HTTP/3 requires an https URL", request: request)
        }
        let flaw: String? =
            if !features.hasHTTP3 {
                "\(features) does not support HTTP/3"
            } else if !features.usesHTTP3 {
                "HTTP/3 requires libcurl 8.5 or later with HTTP/2, and this is \(features)"
            } else if !multi.settings.isDirect {
                "HTTP/3 cannot use a proxy, not even the environment's, or a Unix socket"
            } else {
                nil
            }
        if let flaw { throw NetworkError(.invalidConfiguration, "httpVersion: \(flaw)", request: request) }
    }
}
