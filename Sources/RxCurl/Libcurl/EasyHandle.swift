import CLibcurl
import HTTPTypes
import RxHTTP
import RxLoop

/// One `CURL *`, used by one transfer after another.
///
/// Options that never change are set once. Options that vary between requests are set when they differ from the
/// previous transfer on the handle, and ``Settings`` lists them, except those of ``listen(_:)`` and
/// ``guardFirstLine(_:)``; this replaces `curl_easy_reset`, which would reset the constant options as well. A handle
/// whose transfer did not succeed is discarded together with its inner state.
@safe
final class EasyHandle {
    // Safe: `raw` and the buffers live from init to deinit, and everything happens on the loop of `multi`.
    let raw: UnsafeMutableRawPointer
    /// Outlives the handle.
    unowned let multi: Multi
    /// The running transfer.
    var transfer: Transfer? {
        didSet { unsafe carried = unsafe transfer.map { unsafe Unmanaged.passUnretained($0) } }
    }
    /// The running transfer as an unretained reference, for libcurl's callbacks.
    private(set) var carried: Unmanaged<Transfer>?
    /// The index of the handle among the running ones, or −1. Changed only by ``RunningHandles``.
    var slot = -1
    /// Whether curl holds bytes that its transfer cannot take yet. Changed only by ``RunningHandles``, which
    /// counts these handles.
    var isReceivePaused = false
    /// Whether the handle must not be used again. ``configure(for:headers:)`` decides anew, so that a
    /// transfer can go on with its handle after curl has ended it with an error.
    var mustDiscard = false
    /// The host and port, or `proxy`, whose name libcurl is looking up; see ``NameLookups``.
    var lookup: String?
    /// Set for the next check of the transfer's limits; see ``TransferClock``. It stays in the heap of the
    /// loop between transfers.
    private(set) var limits: LoopTimer?

    /// The parsed URL (`CURLOPT_CURLU`): from a text, curl would parse the URL again with every transfer.
    let address: OpaquePointer
    let errorBuffer: UnsafeMutablePointer<CChar>
    private var content: UnsafeMutableRawBufferPointer?
    /// Whether connections without TLS are used only once.
    private let usesPlainOnce: Bool
    /// Whether the connection of the transfer is used only once.
    var isOneUse: Bool { settings.isOneUse }
    /// Whether libcurl closes the connection at the end of the transfer.
    var closesConnection: Bool { settings.closesConnection }
    private var settings = Settings()
    /// The first option that libcurl has rejected (``record(_:_:)``). `init` and ``configure(for:headers:)``
    /// throw it at their end, so the steps between need not check.
    private var failure: CurlError?
    /// Whether libcurl may still know the last field of an earlier response.
    private var isUsed = false
    var firstLine = FirstLineGuard()
    /// Whether libcurl's log is read (``HTTP2Notice``).
    private(set) var isListening = false
    /// When the connect timeout of the transfer has passed, in nanoseconds of the loop. ``TransferClock`` then ends the
    /// transfer; ``NameLookups/liftLimits(at:)`` lifts curl's own limit, so that curl continues the lookup.
    private(set) var connectDeadline: UInt64 = 0

    /// All settings that can differ between two transfers on one handle. Each begins with the value that a
    /// new handle has after ``setConstants(_:)``, or with one that no transfer asks for.
    private struct Settings {
        enum Content: Equatable {
            case unset, none, noBody, inline, streamed
        }
        var url: String?
        var method: String?
        var content = Content.unset
        var contentCount: Int64?
        var continueWait: Duration?
        /// `nil` if curl does not have it, before the first transfer and after ``liftConnectLimit()``; `.some(nil)` is no
        /// limit.
        var connectTimeout: Duration?? = nil
        var headers: HeaderList?
        var isOneUse = false
        var closesConnection = false
        var expectsSharing = false
        var http3 = HTTP3Request.none
    }

    /// Creates a handle with the options that are the same for all transfers of `multi`.
    ///
    /// Throws the error of the first option that libcurl rejects, or `CURLE_OUT_OF_MEMORY`.
    init(for multi: Multi) throws(CurlError) {
        guard let raw = unsafe curl_easy_init() else { throw CurlError(CURLE_OUT_OF_MEMORY) }
        guard let address = unsafe curl_url() else {
            unsafe curl_easy_cleanup(raw)
            throw CurlError(CURLE_OUT_OF_MEMORY)
        }
        unsafe self.raw = unsafe raw
        unsafe self.address = unsafe address
        unsafe errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        self.multi = multi
        usesPlainOnce =
            multi.settings.httpVersion == .http2PriorKnowledge && multi.features.has(.breaksReusedPlainHTTP2)
        setConstants(multi)
        if let failure { throw failure }
        limits = LoopTimer(on: multi.loop) { [unowned multi, unowned self] in
            if let transfer { multi.checkLimits(of: transfer, isSecond: false) }
        }
    }

    deinit {
        limits?.close()
        unsafe curl_easy_cleanup(raw)
        unsafe curl_url_cleanup(address)
        unsafe errorBuffer.deallocate()
        unsafe content?.deallocate()
    }

    // MARK: - One transfer

    /// Sets all options that vary, for the current transfer of the handle.
    func configure(for transfer: Transfer, headers: HeaderList) throws(CurlError) {
        unsafe errorBuffer.pointee = 0
        failure = nil
        listen(false)
        if multi.features.has(.readsFreedHeaders) { guardFirstLine(isUsed) }
        isUsed = true
        // The user and password of a URL stay in the handle.
        mustDiscard = transfer.target.hasUserInfo || transfer.request.asksForUpgrade
        if let upgrade = transfer.request.upgrade { setConnectOnly(speaksHTTP: upgrade.opening == nil) }
        if settings.url != transfer.target.text { try setURL(transfer.target.text) }
        if !transfer.request.asksForUpgrade { setReuse(transfer) }
        let expectsSharing = transfer.expectsSharing
        if settings.expectsSharing != expectsSharing {
            settings.expectsSharing = expectsSharing
            set(CURLOPT_PIPEWAIT, expectsSharing ? 1 : 0)
        }
        // Never for an upgrade, which asks for no HTTP/3: ``setConnectOnly(speaksHTTP:)`` has set its version.
        if settings.http3 != transfer.attempts.http3 {
            settings.http3 = transfer.attempts.http3
            setVersion(transfer.attempts.http3, transfer.multi)
        }
        if settings.headers !== headers {
            unsafe set(CURLOPT_HTTPHEADER, headers.raw)
            settings.headers = headers
        }
        let connectTimeout = transfer.request.timeouts.connect
        var connectTime = Self.milliseconds(connectTimeout)
        // The queries of a lookup over HTTPS get this time: at most 300 s, the default of curl, as the documentation of
        // ``CurlTransport/Configuration/dnsOverHTTPS`` says.
        if transfer.multi.configuration.dnsOverHTTPS != nil { connectTime = min(connectTime, 300_000) }
        connectDeadline = transfer.multi.loop.nanoseconds + UInt64(connectTime) * 1_000_000
        if settings.connectTimeout != .some(connectTimeout) {
            // Later than the transport's own limit, so that libcurl does not end a lookup that others may use.
            set(CURLOPT_CONNECTTIMEOUT_MS, min(connectTime + Self.connectMargin, Int(Int32.max)))
            settings.connectTimeout = .some(connectTimeout)
        }
        setContent(transfer.content, method: transfer.request.method)
        if let wait = transfer.expectation.wait, settings.continueWait != wait {
            set(CURLOPT_EXPECT_100_TIMEOUT_MS, Self.milliseconds(wait))
            settings.continueWait = wait
        }
        if let failure {
            mustDiscard = true
            throw failure
        }
    }

    private func setReuse(_ transfer: Transfer) {
        let isOneUse = usesPlainOnce && transfer.target.isPlain
        if settings.isOneUse != isOneUse {
            settings.isOneUse = isOneUse
            set(CURLOPT_FRESH_CONNECT, isOneUse ? 1 : 0)
        }
        let closesConnection = isOneUse || !multi.settings.keepsConnections
        if settings.closesConnection != closesConnection {
            settings.closesConnection = closesConnection
            set(CURLOPT_FORBID_REUSE, closesConnection ? 1 : 0)
        }
    }

    private func setURL(_ text: String) throws(CurlError) {
        settings.url = text
        let code = unsafe curl_url_set(address, CURLUPART_URL, text, UInt32(CURLU_PATH_AS_IS))
        guard code == CURLUE_OK else {
            mustDiscard = true
            throw CurlError(CURLE_URL_MALFORMAT, detail: unsafe String(cString: curl_url_strerror(code)))
        }
        // The URL for messages; libcurl does not parse it again.
        set(CURLOPT_URL, text)
    }

    private func setContent(_ content: TransferContent, method: HTTPRequest.Method) {
        let name = method == .post ? nil : method.rawValue
        switch content {
        case .none:
            // The methods with empty content are those of ``TransferContent/framing(of:)``.
            switch method {
            case .get: setContent(.none, method: nil)
            case .head: setContent(.noBody, method: nil)
            case .post, .put, .patch: setContent(.inline, method: name)
            default: setContent(.none, method: name)
            }
        case .inline(let bytes):
            unsafe bytes.withUnsafeBytes { unsafe inlineContent().copyMemory(from: $0) }
            setContent(.inline, count: Int64(bytes.count), method: name)
        case .streamed(let source):
            // −1 means an unknown length.
            setContent(.streamed, count: source.length ?? -1, method: name)
        }
    }

    private func setContent(_ content: Settings.Content, count: Int64 = 0, method: String?) {
        if settings.content != content {
            settings.content = content
            settings.contentCount = nil
            // ``Transfer/reportUpload()`` is called only where progress is on.
            set(CURLOPT_NOPROGRESS, content == .streamed ? 0 : 1)
            set(CURLOPT_UPLOAD_BUFFERSIZE, content == .streamed ? Self.streamBuffer : Self.smallBuffer)
            // Setting the fields makes it a POST, hence the order.
            unsafe set(CURLOPT_POSTFIELDS, content == .inline ? inlineContent().baseAddress : nil)
            switch content {
            case .none, .unset: set(CURLOPT_HTTPGET, 1)
            case .noBody:
                set(CURLOPT_HTTPGET, 1)
                set(CURLOPT_NOBODY, 1)
            case .inline, .streamed: set(CURLOPT_POST, 1)
            }
        }
        if settings.contentCount != count {
            settings.contentCount = count
            setOffset(CURLOPT_POSTFIELDSIZE_LARGE, count)
        }
        if settings.method != method {
            settings.method = method
            if let method {
                set(CURLOPT_CUSTOMREQUEST, method)
            } else {
                unsafe set(CURLOPT_CUSTOMREQUEST, nil)
            }
        }
    }

    /// The size of the pieces in which a streamed body is sent. It halves the number of system calls and of
    /// wake-ups of the server; curl has the buffer only while it sends. ``SocketState/patience`` depends on it.
    private static let streamBuffer = 128 << 10
    /// curl's default.
    private static let smallBuffer = 64 << 10

    /// The buffer for small bodies, from which curl reads while the transfer runs.
    private func inlineContent() -> UnsafeMutableRawBufferPointer {
        if let content = unsafe content { return unsafe content }
        let made = UnsafeMutableRawBufferPointer.allocate(
            byteCount: TransferContent.inlineLimit, alignment: 16)
        unsafe content = unsafe made
        return unsafe made
    }

    /// Converts a limit for `CURLOPT_CONNECTTIMEOUT_MS`, where 0 would mean 300 seconds and the maximum is an
    /// `int`.
    static func milliseconds(_ limit: Duration?) -> Int {
        guard let limit, limit < .milliseconds(Int64(Int32.max)) else { return Int(Int32.max) }
        let (seconds, attoseconds) = limit.components
        return max(1, Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
    }

    /// Releases the header fields, which curl has no more use for.
    func forgetHeaders() {
        unsafe set(CURLOPT_HTTPHEADER, nil)
        settings.headers = nil
    }

    /// Makes curl close the connection together with an unfinished transfer, unless other transfers use it,
    /// because curl would delay the frame that ends an HTTP/2 stream (``LibcurlFault/delaysHTTP2Resets``).
    /// Only for a handle that is not used again.
    func forbidReuse() { set(CURLOPT_FORBID_REUSE, 1) }

    /// Makes curl keep the connection after the transfer, so that it shows whether curl considers it usable.
    func permitReuse() {
        settings.closesConnection = false
        set(CURLOPT_FORBID_REUSE, 0)
    }

    /// Reads libcurl's log from now on, or no longer.
    func listen(_ isListening: Bool) {
        guard self.isListening != isListening else { return }
        self.isListening = isListening
        set(CURLOPT_VERBOSE, isListening ? 1 : 0)
    }

    /// Makes curl report the progress of this transfer, whatever its content; it does so at the end too, while
    /// the connection is still open (`Curl_pgrsDone`).
    func watchProgress() {
        settings.content = .unset
        set(CURLOPT_NOPROGRESS, 0)
    }

    /// The time after which libcurl ends an attempt to connect that the transport did not, in milliseconds.
    private static let connectMargin = 1000

    /// Makes libcurl wait for the lookup of a transfer whose connect timeout has passed.
    func liftConnectLimit() {
        settings.connectTimeout = nil
        set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
    }

    // MARK: - Setting options

    func set(_ option: CURLoption, _ value: Int) {
        unsafe record(rxcurl_easy_setopt_long(raw, option, value), option)
    }

    func set(_ option: CURLoption, _ value: String) {
        unsafe record(value.withCString { unsafe rxcurl_easy_setopt_pointer(raw, option, $0) }, option)
    }

    func set(_ option: CURLoption, _ value: UnsafeRawPointer?) {
        unsafe record(rxcurl_easy_setopt_pointer(raw, option, value), option)
    }

    private func setOffset(_ option: CURLoption, _ value: Int64) {
        unsafe record(rxcurl_easy_setopt_offset(raw, option, curl_off_t(value)), option)
    }

    /// Records the first option that libcurl does not accept.
    func record(_ code: CURLcode, _ option: CURLoption) {
        guard code != CURLE_OK, failure == nil else { return }
        let reason = CurlError(code).message
        let name = unsafe curl_easy_option_by_id(option).map { unsafe String(cString: $0.pointee.name) }
        let option = name.map { "CURLOPT_\($0)" } ?? "option \(option.rawValue)"
        var error = CurlError(code, detail: "libcurl rejected \(option): \(reason)")
        error.isRejectedOption = true
        failure = error
    }
}

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
