import FoundationEssentials
import RxHTTP
import RxParameters

extension ServerPair {
    /// The URL of a path: below the main server's base URL, or an absolute URL at one of the service's
    /// origins.
    func url(for path: String, allowingOtherOrigins allowsOtherOrigins: Bool) throws(NetworkError) -> URL {
        guard !path.hasDotSegments else {
            throw NetworkError(.invalidURL, "the path \(path.withoutSecrets) contains a segment . or ..")
        }
        if path.utf8.first.map({ $0 | 0x20 == UInt8(ascii: "h") }) == true,
            ["http://", "https://"].contains(where: { path.prefix($0.count).lowercased() == $0 })
        {
            let (url, origin) = try Self.parse(path)
            guard allowsOtherOrigins || main.baseURL.isEmpty || contains(origin) else {
                throw NetworkError(
                    .invalidURL,
                    "\(origin.scheme)://\(origin.host):\(origin.port) is not the origin of the base URL; "
                        + "set allowsOtherOrigins to send requests there")
            }
            return url
        }
        guard let baseOrigin = main.origin, main.takesPaths else {
            let problem = "is not an absolute http or https URL without query and fragment"
            throw NetworkError(.invalidURL, "the base URL \(main.baseURL.withoutSecrets) \(problem)")
        }
        let (url, origin) = try Self.parse(path.isEmpty ? main.baseURL : Self.join(main.baseURL, path))
        guard origin == baseOrigin else {
            throw NetworkError(
                .invalidURL, "the path \(path.withoutSecrets) leads away from the base URL's origin")
        }
        return url
    }

    private static func parse(_ text: String) throws(NetworkError) -> (URL, Origin) {
        guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
            throw NetworkError(
                .invalidURL,
                "\(text.withoutSecrets) contains a space or a control character; percent-encode it")
        }
        guard let url = URL(string: text), let origin = Origin(url) else {
            throw NetworkError(.invalidURL, "\(text.withoutSecrets) is not an absolute http or https URL")
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
