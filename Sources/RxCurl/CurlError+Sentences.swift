internal import CLibcurl
internal import RxHTTP

/// The failures in words for people. The words of libcurl are in ``NetworkError/details``.
extension CurlError {
    /// One sentence; `nil` for limits that have passed.
    func sentence(for code: NetworkError.Code, host: String, isSent: Bool) -> String? {
        switch code {
        case .resolve where self.code == CURLE_COULDNT_RESOLVE_PROXY:
            "The address of the proxy could not be found."
        case .resolve: "The address of \(host) could not be found."
        case .connect: "The server at \(host) could not be reached."
        case .proxy:
            if let proxyStatus {
                "The proxy did not connect to \(host): it answered with status \(proxyStatus)."
            } else {
                "The server at \(host) could not be reached through the proxy."
            }
        case .tls: tlsSentence(host)
        case .connectionLost: Self.lostConnection(to: host)
        case .emptyReply: "The server at \(host) closed the connection without a response."
        case .partialBody: "The connection to \(host) ended before the response was complete."
        case .invalidResponse: "The response from \(host) is not valid HTTP."
        case .tooLarge: "The \(isSent ? "response from" : "request to") \(host) is larger than allowed."
        case .invalidURL: "The URL is not valid."
        case .invalidConfiguration: "The transport's configuration has a value that is not supported."
        default: nil
        }
    }

    static func lostConnection(to host: String) -> String { "The connection to \(host) was lost." }

    private func tlsSentence(_ host: String) -> String {
        switch tlsFailure {
        case .expired: "The certificate of \(host) has expired."
        case .notYetValid: "The certificate of \(host) is not valid yet."
        case .hostMismatch: "The certificate of the server is not for \(host)."
        case .selfSigned: "The certificate of \(host) is self-signed."
        case .unknownAuthority: "The certificate of \(host) is not from a trusted authority."
        case .revoked: "The certificate of \(host) has been revoked."
        case .pinMismatch: "The server at \(host) does not have a pinned key."
        case .protocolVersion: "The server at \(host) supports no accepted version of TLS."
        case .clientCertificate:
            "The client's certificate for \(host) is missing, unreadable or not accepted."
        case .caBundle: "The trusted authorities could not be read."
        default: "A secure connection to \(host) could not be made."
        }
    }
}
