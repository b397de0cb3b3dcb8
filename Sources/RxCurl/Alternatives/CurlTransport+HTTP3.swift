internal import RxHTTP

extension CurlTransport {
    /// Throws if the request may only be sent over HTTP/3 and cannot be.
    func checkVersion(_ target: CheckedURL, of request: Request) throws(NetworkError) {
        guard multi.settings.http3 == .only else { return }
        if target.isPlain {
            throw NetworkError(.invalidURL, "HTTP/3 is spoken with https URLs only", request: request)
        }
        let flaw: String? =
            if !features.hasHTTP3 {
                "\(features) does not speak HTTP/3"
            } else if !features.usesHTTP3 {
                "HTTP/3 is used with a libcurl from 8.4 on that speaks HTTP/2 too, and this is \(features)"
            } else if !multi.settings.isDirect {
                "HTTP/3 goes through no proxy, such as one of the environment, and no Unix socket"
            } else {
                nil
            }
        if let flaw { throw NetworkError(.invalidConfiguration, "httpVersion: \(flaw)", request: request) }
    }
}
