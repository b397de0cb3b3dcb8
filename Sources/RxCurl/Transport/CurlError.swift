import CLibcurl
import RxHTTP

/// The error of curl for a transfer that failed.
struct CurlError: Error {
    let code: CURLcode
    /// The text of `CURLOPT_ERRORBUFFER`, else of `curl_easy_strerror`.
    let message: String
    /// The result of verifying the server's certificate (`CURLINFO_SSL_VERIFYRESULT`); 0 for success.
    let verifyResult: Int
    /// The system's error number, if a call of the system failed.
    let systemError: Int32?
    /// Whether the server asked for a certificate of the client and broke the connection before it responded.
    var isAfterCertificateRequest = false
    /// Whether ``verifyResult`` is a number of GnuTLS.
    let usesGnuTLS: Bool
    /// Whether libcurl has rejected the value of an option.
    var isRejectedOption = false
    /// Whether the transfer would have shown a certificate of the client.
    var hasClientCertificate = false
    /// Whether the transfer uses a proxy.
    var usesProxy = false
    /// The status with which the proxy answered `CONNECT`, if it did.
    var proxyStatus: Int?

    /// `CURLE_TOO_LARGE`, which headers before 8.6 lack.
    private static let tooLarge = CURLcode(rawValue: 100)

    /// - Parameter detail: the text of the error buffer; may be empty. Text that looks like user info is
    ///   removed.
    init(
        _ code: CURLcode, detail: String = "", verifyResult: Int = 0, systemError: Int32? = nil,
        features: LibcurlFeatures = .running
    ) {
        self.code = code
        usesGnuTLS = features.usesGnuTLS
        self.verifyResult = verifyResult
        self.systemError = systemError
        message =
            switch code {
            // curl has no error for a connection that ends inside a head.
            case CURLE_OK: "the server closed the connection in the middle of a response head"
            case CURLE_OUT_OF_MEMORY, Self.tooLarge:
                "the response exceeds a limit of libcurl, such as 100 KiB for a header line"
            default:
                detail.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : detail.withoutUserInfo
            }
    }

    /// The kind of failure.
    ///
    /// - Parameter isSent: whether the request had been sent. A failure to connect then belongs to curl's
    ///   second try, so the server may have processed the request.
    /// - Parameter isLookedUp: whether the name was being looked up over HTTPS.
    func kind(isSent: Bool, isLookedUp: Bool = false) -> NetworkError.Code {
        if isRejectedOption { return .invalidConfiguration }
        if let tlsFailure, !isSent || tlsFailure == .clientCertificate && code != CURLE_BAD_FUNCTION_ARGUMENT
        {
            return .tls
        }
        if !isSent, [CURLE_COULDNT_CONNECT, CURLE_RECV_ERROR, CURLE_SEND_ERROR].contains(code) {
            return usesProxy && !isTunnelOpen ? .proxy : .connect
        }
        return switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            isSent ? .connectionLost : .resolve
        case CURLE_PROXY: isSent ? .connectionLost : .proxy
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED: isSent ? .connectionLost : .connect
        case CURLE_OPERATION_TIMEDOUT:
            // `CURLOPT_CONNECTTIMEOUT_MS` is the only limit that curl is given.
            isSent ? .connectionLost : .connectTimeout
        case CURLE_GOT_NOTHING, CURLE_OK: .emptyReply
        case CURLE_PARTIAL_FILE: .partialBody
        // TLS that ends without close_notify, from 8.0 on, in the words of OpenSSL and GnuTLS.
        case CURLE_RECV_ERROR
        where ["unexpected eof", "non-properly terminated", "recv error (-9)"].contains(
            where: message.contains):
            .partialBody
        // nghttp2 limits the frames of a head, in its newer versions to nine, and libcurl before 8.1 their size to
        // 128 KiB, which it reports as a failure of its callback. The code is `CURLE_HTTP2` or `CURLE_RECV_ERROR`.
        case _ where ["CONTINUATION frames", "mem_recv() returned -902"].contains(where: message.contains):
            .tooLarge
        // There is no separate code: "… in chunked-encoding", in 8.x also "chunk hex-length …", "invalid
        // chunk size …".
        case CURLE_RECV_ERROR where message.contains("chunk"): .invalidResponse
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_SEND_FAIL_REWIND, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            .connectionLost
        case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR:
            .invalidResponse
        // curl reports a trailer without a colon like this.
        case CURLE_BAD_FUNCTION_ARGUMENT where isSent: .invalidResponse
        // The scheme has been checked, so this is curl's error for HTTP/0.9.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT: isSent ? .invalidResponse : .invalidURL
        // libcurl 7.88 reports a name without an address like this if it was looked up over HTTPS for one
        // address family only. ``Transfer/shortage(behind:)`` makes the same exception.
        case CURLE_OUT_OF_MEMORY where !isSent && isLookedUp: .resolve
        // curl reports its limits, such as 100 KiB for a header line, like this.
        case CURLE_FILESIZE_EXCEEDED, CURLE_OUT_OF_MEMORY, Self.tooLarge: .tooLarge
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CRL_BADFILE,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED,
            CURLE_USE_SSL_FAILED, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT:
            isSent ? .connectionLost : .tls
        default: isSent ? .connectionLost : .connect
        }
    }
}

extension CurlError {
    /// Whether the proxy has connected the transfer to its server.
    private var isTunnelOpen: Bool { proxyStatus.map { 200..<300 ~= $0 } ?? false }
}

extension TransferState.Refusal {
    /// The error code for a refusal.
    var kind: NetworkError.Code {
        switch self {
        case .headTooLarge, .expanded, .backlogFull: .tooLarge
        case .tooManyInterimHeads, .malformedStatusLine, .uncertainLength, .switchedProtocols, .expectation,
            .malformedContent, .tooManyCodings, .malformedHead, .malformedChunk, .unknownTransferCoding:
            .invalidResponse
        case .brokenOff, .cutOff: .partialBody
        case .repetitionForbidden, .contentGone: .connectionLost
        }
    }

    var message: String {
        switch self {
        case .headTooLarge: "the header section is larger than headerLimit"
        case .tooManyInterimHeads: "the server sent more informational responses than interimLimit"
        case .malformedStatusLine: "the response does not begin with a status line"
        case .malformedHead: "the head has a NUL, another version than HTTP/1, or a line without a colon"
        case .malformedChunk: "a chunk of the body does not begin with its size, or a trailer has no colon"
        case .unknownTransferCoding: "the response has a transfer coding other than chunked"
        case .uncertainLength: "the response's Content-Length is not a number, or there are several"
        case .switchedProtocols: "the server switched protocols without being asked"
        case .expectation: "the server responded with 417"
        case .expanded: "the compressed body expands beyond expansionLimit"
        case .malformedContent(let coding): "the body is not valid \(coding.rawValue)"
        case .brokenOff(let coding): "the body ends in the middle of its \(coding.rawValue) coding"
        case .cutOff: "the server broke off a body that has no Content-Length"
        case .tooManyCodings: "the body has more than \(ContentCoding.limit) content codings"
        case .backlogFull:
            "the backlog of a paused subscriber is over http2BacklogLimit; over HTTP/1.1 the server waits"
        case .repetitionForbidden:
            "the connection broke before the response, and the request was not repeated, "
                + "since the server may have processed it"
        case .contentGone:
            "the connection broke before the response, and the content of the request cannot be read again"
        }
    }
}

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

extension CurlError {
    /// The kind of TLS failure, if TLS failed.
    var tlsFailure: NetworkError.TLSFailure? {
        if isAfterCertificateRequest { return .clientCertificate }
        return switch code {
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH: .pinMismatch
        case CURLE_SSL_CACERT_BADFILE: .caBundle
        case CURLE_SSL_CERTPROBLEM: .clientCertificate
        // A newer libcurl says this of a key that it cannot read.
        case CURLE_BAD_FUNCTION_ARGUMENT where hasClientCertificate: .clientCertificate
        case CURLE_PEER_FAILED_VERIFICATION: verification
        case CURLE_SSL_CONNECT_ERROR
        where says("alert protocol version", "unsupported protocol", "Error in protocol version"):
            .protocolVersion
        // GnuTLS has no separate code for a file that cannot be parsed.
        case CURLE_SSL_CONNECT_ERROR where says("error reading X.509"): .clientCertificate
        // With TLS 1.3 the server checks the client's certificate when the client already considers itself
        // connected (alerts: RFC 8446 §6.2).
        case CURLE_SSL_CONNECT_ERROR, CURLE_RECV_ERROR, CURLE_SEND_ERROR:
            says("alert certificate required", "alert bad certificate", "alert unknown ca")
                ? .clientCertificate : nil
        default: nil
        }
    }

    /// Follows OpenSSL's `X509_V_ERR_*` (openssl/x509_vfy.h). curl compares host names itself and sets no
    /// number.
    private var verification: NetworkError.TLSFailure? {
        if says("subject name") { return .hostMismatch }
        if usesGnuTLS { return gnuTLSVerification }
        return switch verifyResult {
        case 9: .notYetValid
        case 10: .expired
        case 18, 19: .selfSigned
        case 2, 20, 21: .unknownAuthority
        case 23: .revoked
        case 62: .hostMismatch
        default: nil
        }
    }

    /// Follows the bits of GnuTLS's `gnutls_certificate_status_t` (gnutls/gnutls.h), which does not
    /// distinguish a self-signed certificate from one whose authority is unknown.
    private var gnuTLSVerification: NetworkError.TLSFailure? {
        guard verifyResult > 0 else { return nil }
        let bits: [(Int, NetworkError.TLSFailure)] = [
            (1 << 5, .revoked), (1 << 9, .notYetValid), (1 << 10, .expired),
            (1 << 6 | 1 << 7, .unknownAuthority),
        ]
        return bits.first { verifyResult & $0.0 != 0 }?.1
    }

    private func says(_ words: String...) -> Bool { words.contains { message.contains($0) } }
}
