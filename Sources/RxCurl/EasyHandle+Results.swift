internal import CLibcurl
internal import RxHTTP

/// The results of the last transfer.
extension EasyHandle {
    /// Adds the figures of the last transfer: times (`CURLINFO_*_TIME_T`) and bytes.
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

    /// Whether the name may be being looked up.
    var isLookingUp: Bool { isInCurl && hasNoAddress }

    /// The socket of the last transfer's connection, if that is still open (`CURLINFO_ACTIVESOCKET`).
    var socket: curl_socket_t? {
        var value = curl_socket_t(-1)
        unsafe _ = rxcurl_easy_getinfo_socket(raw, CURLINFO_ACTIVESOCKET, &value)
        return value >= 0 ? value : nil
    }

    /// Whether a connection was made for the transfer (`CURLINFO_NUM_CONNECTS`).
    var isOnNewConnection: Bool {
        var connections = 0
        unsafe _ = rxcurl_easy_getinfo_long(raw, CURLINFO_NUM_CONNECTS, &connections)
        return connections > 0
    }

    /// The bytes of the body received so far, as they were on the wire.
    var receivedBytes: Int { offset(CURLINFO_SIZE_DOWNLOAD_T) }

    /// The bytes of content sent so far.
    var sentBytes: Int { offset(CURLINFO_SIZE_UPLOAD_T) }

    /// The result of the last transfer, with libcurl's message.
    func error(_ code: CURLcode) -> CurlError {
        var verifyResult = 0
        if code == CURLE_PEER_FAILED_VERIFICATION {
            unsafe _ = rxcurl_easy_getinfo_long(raw, CURLINFO_SSL_VERIFYRESULT, &verifyResult)
        }
        return unsafe CurlError(code, detail: String(cString: errorBuffer), verifyResult: verifyResult)
    }

    /// Forgets curl's words about attempts to connect, when one has succeeded: curl keeps its first words, such as those
    /// about a refused `::1`.
    func forgetFailedAttempts() { unsafe errorBuffer.pointee = 0 }

    private func time(_ info: CURLINFO) -> Duration { .microseconds(offset(info)) }

    private func offset(_ info: CURLINFO) -> Int {
        var value: curl_off_t = 0
        unsafe _ = rxcurl_easy_getinfo_offset(raw, info, &value)
        return Int(value)
    }
}
