internal import CLibcurl
internal import RxHTTP

/// The results of the last transfer.
extension EasyHandle {
    /// Adds the times (`CURLINFO_*_TIME_T`) and byte counts of the last transfer.
    func complete(_ metrics: inout TransferMetrics) {
        let isNew = isOnNewConnection
        metrics.isConnectionReused = !isNew
        if isNew {
            metrics.resolved = time(CURLINFO_NAMELOOKUP_TIME_T)
            metrics.connected = time(CURLINFO_CONNECT_TIME_T)
            metrics.secured = time(CURLINFO_APPCONNECT_TIME_T)
        }
        metrics.sent = time(CURLINFO_PRETRANSFER_TIME_T)
        metrics.firstByte = time(CURLINFO_STARTTRANSFER_TIME_T)
        metrics.total = time(CURLINFO_TOTAL_TIME_T)
        metrics.bodyBytesReceived = receivedBytes
    }

    /// Whether curl has found no address for the transfer.
    var hasNoAddress: Bool { time(CURLINFO_NAMELOOKUP_TIME_T) == .zero }

    /// The socket of the last transfer's connection, if it is still open (`CURLINFO_ACTIVESOCKET`).
    var socket: curl_socket_t? {
        var value = curl_socket_t(-1)
        unsafe _ = rxcurl_easy_getinfo_socket(raw, CURLINFO_ACTIVESOCKET, &value)
        return value >= 0 ? value : nil
    }

    /// Whether a connection was made for the transfer.
    var isOnNewConnection: Bool { connectionCount > 0 }

    /// The number of connections that were made for the transfer (`CURLINFO_NUM_CONNECTS`).
    var connectionCount: Int {
        var connections = 0
        unsafe _ = rxcurl_easy_getinfo_long(raw, CURLINFO_NUM_CONNECTS, &connections)
        return connections
    }

    /// The number of body bytes received so far, before decoding.
    var receivedBytes: Int { offset(CURLINFO_SIZE_DOWNLOAD_T) }

    /// The number of content bytes sent so far.
    var sentBytes: Int { offset(CURLINFO_SIZE_UPLOAD_T) }

    /// The error of the last transfer, with libcurl's message.
    func error(_ code: CURLcode) -> CurlError {
        let verifyResult = code == CURLE_PEER_FAILED_VERIFICATION ? long(CURLINFO_SSL_VERIFYRESULT) : nil
        var error = unsafe CurlError(
            code, detail: String(cString: errorBuffer), verifyResult: verifyResult ?? 0)
        error.hasClientCertificate =
            multi.configuration.tls.clientCertificatePath != nil && transfer?.target.isPlain == false
        error.usesProxy = usesProxy
        let status = long(CURLINFO_HTTP_CONNECTCODE) ?? 0
        error.proxyStatus = status > 0 ? status : nil
        return error
    }

    /// Whether curl has connected, or tried to connect, to a proxy. libcurl tells from 8.7 on (`CURLINFO_USED_PROXY`);
    /// before, the port tells.
    private var usesProxy: Bool {
        guard !multi.settings.isDirect, multi.configuration.unixSocketPath == nil else { return false }
        if let isUsed = long(CURLINFO(rawValue: 0x20_0000 + 66)) { return isUsed > 0 }
        if multi.settings.isProxyCertain { return true }
        guard let transfer, let port = transfer.attempts.port, multi.settings.connectTo == nil else {
            return false
        }
        return port != Origin(transfer.request.url)?.port
    }

    /// Whether curl has left a message about the transfer.
    var hasMessage: Bool { unsafe errorBuffer.pointee != 0 }

    /// Clears curl's message about failed attempts to connect after one has succeeded. curl keeps its first
    /// message, such as one about a refused `::1`.
    func forgetFailedAttempts() { unsafe errorBuffer.pointee = 0 }

    private func time(_ info: CURLINFO) -> Duration { .microseconds(offset(info)) }

    /// The value; `nil` if this libcurl does not have it.
    private func long(_ info: CURLINFO) -> Int? {
        var value = 0
        return unsafe rxcurl_easy_getinfo_long(raw, info, &value) == CURLE_OK ? value : nil
    }

    private func offset(_ info: CURLINFO) -> Int {
        var value: curl_off_t = 0
        unsafe _ = rxcurl_easy_getinfo_offset(raw, info, &value)
        return Int(value)
    }
}
