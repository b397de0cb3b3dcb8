internal import CLibcurl
internal import RxHTTP

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
        // address family only.
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
        case .sentTwice: .connectionLost
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
        case .sentTwice:
            "the connection broke before the response, and the request was not repeated, "
                + "since the server may have processed it"
        }
    }
}
