internal import CLibcurl
internal import RxHTTP
internal import RxLite
internal import RxLoop
import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// One `CURLM *`, driven by one loop: owns the handles of curl, drives curl, and adds and removes transfers.
///
/// The rules of curl shape it: one thread; no call into curl from one of its callbacks, so commands that
/// arrive then wait until curl has returned; messages are read after every `curl_multi_socket_action`.
@safe
final class Multi: @unchecked Sendable {
    // Unchecked, and without checks of exclusivity: touched only on the loop's thread, except constants and
    // `isClosed`; nothing that leads back here is called while a variable is being changed.
    // Safe: the curl handles are created on first use and live until close(), which sets them to nil.

    let loop: EventLoop
    /// The index of the loop among those of the transport.
    let index: Int
    let configuration: CurlTransport.Configuration
    let features: LibcurlFeatures
    /// The configuration, resolved for the running libcurl.
    let settings: ConnectionSettings
    /// The alternatives that origins have advertised.
    let alternatives: AlternativeServices?
    /// Whether the transport has been shut down. Safe to read from any thread.
    let isClosed = Atomic<Bool>(false)

    /// The sockets that the loop watches for curl.
    let sockets: SocketTable
    /// The transfers that wait for a connection, and the places of the others.
    let queue: ConnectionQueue
    /// The connections that are reported to ``CurlTransport/connections``.
    let connections: ConnectionCensus

    @exclusivity(unchecked) private(set) var raw: UnsafeMutableRawPointer?
    /// The TLS sessions that all handles share; `nil` if they are not shared.
    @exclusivity(unchecked) private(set) var share: UnsafeMutableRawPointer?
    @safe @exclusivity(unchecked) var alarm = CurlAlarm()
    @safe @exclusivity(unchecked) var commands = CommandQueue()
    @safe @exclusivity(unchecked) var running = RunningHandles()
    @safe @exclusivity(unchecked) var pool = EasyHandlePool()
    @safe @exclusivity(unchecked) var lookups: NameLookups
    @safe @exclusivity(unchecked) var overdue = OverdueTransfers()
    @safe @exclusivity(unchecked) var recent = RecentValues()
    @safe @exclusivity(unchecked) var upgrades = UpgradedConnections()
    /// The number of transfers that watch the end of their HTTP/2 stream.
    @safe @exclusivity(unchecked) var endWatches = 0
    /// The latest notice about a stream whose transfer was not known, and the port of its connection.
    @safe @exclusivity(unchecked) var unownedNotice: (notice: HTTP2Notice, localPort: Int)?
    private var shutdownHook: (any Cancellable)?

    init(
        on loop: EventLoop, at index: Int, configuration: CurlTransport.Configuration,
        features: LibcurlFeatures, alternatives: AlternativeServices? = nil,
        of loops: Int = 1, reportingTo hub: ConnectionHub = ConnectionHub()
    ) {
        self.loop = loop
        self.index = index
        self.configuration = configuration
        self.features = features
        let settings = ConnectionSettings(configuration, features)
        self.settings = settings
        let usesAlternatives = settings.http3 == .whenNamed || settings.http3 == .always
        self.alternatives = usesAlternatives ? alternatives : nil
        lookups = NameLookups(loops: loops)
        sockets = SocketTable(on: loop, features)
        queue = ConnectionQueue(on: loop, configuration, settings)
        connections = ConnectionCensus(on: loop, reportingTo: hub)
        sockets.report(to: self)
    }

    /// Makes the loop close everything before it ends. The loop's hook keeps this object until ``close()``.
    func closeWithLoop() {
        let hook = loop.onShutdown { self.perform(.close) }
        shutdownHook = hook
    }

    /// The pointer to this object for curl's callbacks. Valid until `close()`; curl makes no calls after
    /// that.
    var context: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

    // MARK: The handles of curl

    /// The curl handle, created on first use.
    func open() throws(CurlError) -> UnsafeMutableRawPointer {
        loop.assertCurrent()
        if let raw = unsafe raw { return unsafe raw }
        let status = Self.globalStatus
        guard status == CURLE_OK else { throw CurlError(status) }
        do throws(UVError) {
            try alarm.open(on: loop) { [unowned self] in drive(CURL_SOCKET_TIMEOUT, 0) }
            try overdue.open(on: loop) { [unowned self] in lookAgain() }
        } catch {
            closeTimers()
            throw CurlError(CURLE_FAILED_INIT, detail: error.description, systemError: -error.rawValue)
        }
        queue.open { [unowned self] in perform(.widenQueue) }
        guard let made = unsafe curl_multi_init() else {
            closeTimers()
            throw CurlError(
                CURLE_FAILED_INIT, detail: "libcurl could not create a multi handle",
                systemError: Shortage.ofDescriptors() ?? Shortage.ofMemory())
        }
        unsafe raw = unsafe made
        unsafe setCallbacks(made)
        unsafe setLimits(made)
        unsafe setLookups(made)
        // Any handle can resume a shared session. A single thread needs no lock functions.
        if features.has(.keepsTLSSessionsPerHandle) { unsafe share = unsafe curl_share_init() }
        if let share = unsafe share {
            unsafe _ = rxcurl_share_setopt_long(
                share, CURLSHOPT_SHARE, Int(CURL_LOCK_DATA_SSL_SESSION.rawValue))
        }
        return unsafe made
    }

    /// Ends all transfers and frees all resources. No transfer starts after this.
    func close() {
        loop.assertCurrent()
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        endAll { $0.end(.shutDown, "the transport has been shut down") }
        queue.removeAll(.shutDown, "the transport has been shut down")
        shutdownHook?.cancel()
        shutdownHook = nil
        dispose()
    }

    /// Ends all transfers because curl reported an error of the multi handle; the next transfer gets a new
    /// one.
    func breakDown(_ code: CURLMcode) {
        loop.assertCurrent()
        endAll { $0.end($0.lostConnection(Self.text(code))) }
        dispose()
    }

    private func endAll(_ end: (Transfer) -> Void) {
        while let handle = running.last {
            handle.isSpent = true
            let transfer = handle.transfer
            release(handle)
            if let transfer { end(transfer) }
        }
    }

    private func dispose() {
        pool.removeAll()
        if let raw = unsafe raw { unsafe _ = curl_multi_cleanup(raw) }
        unsafe raw = nil
        lookups.removeAll()
        if let share = unsafe share { unsafe _ = curl_share_cleanup(share) }
        unsafe share = nil
        closeTimers()
        sockets.removeAll()
    }

    private func closeTimers() {
        alarm.close()
        overdue.close()
        queue.close()
    }

    /// `curl_global_init` must be called once, before anything else.
    private static let globalStatus: CURLcode = {
        let status = curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        if status == CURLE_OK { traceHTTP2() }
        return status
    }()

    /// Adds HTTP/2 frames to libcurl's log, which only transfers with `CURLOPT_VERBOSE` have (``HTTP2Notice``).
    /// The function is new in 8.3.
    private static func traceHTTP2() {
        typealias Trace = @convention(c) (UnsafePointer<CChar>) -> CURLcode
        guard let process = unsafe dlopen(nil, RTLD_LAZY),
            let found = unsafe dlsym(process, "curl_global_trace")
        else { return }
        _ = unsafe unsafeBitCast(found, to: Trace.self)("http/2")
    }

    static func text(_ code: CURLMcode) -> String {
        unsafe String(cString: curl_multi_strerror(code))
    }
}
