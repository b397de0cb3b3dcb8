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

    /// Whether a connection was made for the transfer (`CURLINFO_NUM_CONNECTS`).
    var isOnNewConnection: Bool {
        var connections = 0
        unsafe _ = rxcurl_easy_getinfo_long(raw, CURLINFO_NUM_CONNECTS, &connections)
        return connections > 0
    }

    /// The number of body bytes received so far, before decoding.
    var receivedBytes: Int { offset(CURLINFO_SIZE_DOWNLOAD_T) }

    /// The number of content bytes sent so far.
    var sentBytes: Int { offset(CURLINFO_SIZE_UPLOAD_T) }

    /// The error of the last transfer, with libcurl's message.
    func error(_ code: CURLcode) -> CurlError {
        var verifyResult = 0
        if code == CURLE_PEER_FAILED_VERIFICATION {
            unsafe _ = rxcurl_easy_getinfo_long(raw, CURLINFO_SSL_VERIFYRESULT, &verifyResult)
        }
        return unsafe CurlError(code, detail: String(cString: errorBuffer), verifyResult: verifyResult)
    }

    /// Clears curl's message about failed attempts to connect after one has succeeded. curl keeps its first
    /// message, such as one about a refused `::1`.
    func forgetFailedAttempts() { unsafe errorBuffer.pointee = 0 }

    private func time(_ info: CURLINFO) -> Duration { .microseconds(offset(info)) }

    private func offset(_ info: CURLINFO) -> Int {
        var value: curl_off_t = 0
        unsafe _ = rxcurl_easy_getinfo_offset(raw, info, &value)
        return Int(value)
    }
}
