package import HTTPTypes
package import RxHTTP

// Values of attributes as the semantic conventions of OpenTelemetry define them, for metrics and tracing.
// https://opentelemetry.io/docs/specs/semconv/http/

extension HTTPRequest.Method {
    /// The methods of RFC 9110 §9 and RFC 5789.
    private static let known: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH",
    ]

    /// Whether the method may be the value of `http.request.method`, which is otherwise `_OTHER`.
    package var isConventional: Bool { Self.known.contains(rawValue) }
}

extension NetworkError {
    /// The value of `error.type`: the status, if that is the error, and otherwise the code.
    package var conventionalType: String {
        if code == .status, let status { "\(status.code)" } else { code.rawValue }
    }
}

extension HTTPVersion {
    /// The value of `network.protocol.version`: `1.1`, `2`.
    package var conventionalNumber: String { String(description.dropFirst("HTTP/".utf8.count)) }
}

extension RecordedCall {
    /// Whether the end of a call without an error and without its whole response is as it should be: that of a redirect,
    /// whose body is not needed, or of a stream that the subscriber has read as far as it wanted.
    ///
    /// - Parameter status: the status of the response, if there was one.
    package func mayBeLeft(after status: Int?) -> Bool {
        guard let status else { return false }
        let isStream = kind == .stream || kind == .events || kind == .webSocket
        return (300...399).contains(status) || isStream && status < 300
    }
}

extension String {
    /// The value of `url.template` for an endpoint's path: the path that says which operation it is, from the root of the
    /// server, without query, fragment and origin, since an absolute URL may have user info.
    ///
    /// - Parameter basePath: the path of the base URL. An absolute URL contains it.
    package func conventionalTemplate(below basePath: String) -> String {
        let isPlain = utf8.first == 0x2F && utf8.allSatisfy { $0 != 0x3F && $0 != 0x23 }
        guard !isPlain else { return basePath.isEmpty ? self : basePath + self }
        var rest = prefix { $0 != "?" && $0 != "#" }
        var base = basePath
        let start = rest.prefix(8).lowercased()
        if start.hasPrefix("http://") || start == "https://" {
            rest = rest.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" }
            base = ""
        }
        if rest.isEmpty { return base.isEmpty ? "/" : base }
        return rest.first == "/" ? base + rest : base + "/" + rest
    }
}
