import CLibcurl
import RxHTTP
import RxLite
import RxLoop
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
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
    /// The share of this loop: its limits are not those of the transport.
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
    let connections: ConnectionTracker

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
        connections = ConnectionTracker(on: loop, reportingTo: hub)
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

    // MARK: - The handles of curl

    /// The curl handle, created on first use.
    func open() throws(CurlError) -> UnsafeMutableRawPointer {
        loop.assertCurrent()
        if let raw = unsafe raw { return unsafe raw }
        let status = Self.globalStatus
        guard status == CURLE_OK else { throw CurlError(status) }
        do throws(UVError) {
            try alarm.open(on: loop) { [unowned self] in drive(CURL_SOCKET_TIMEOUT, 0) }
            try overdue.open(on: loop) { [unowned self] in recheckOverdue() }
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
        unsafe limitConnections(made)
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
            handle.mustDiscard = true
            let transfer = handle.transfer
            release(handle)
            if let transfer { end(transfer) }
        }
    }

    /// Frees everything in this order: curl closes sockets through ``sockets``, and frees a share only when no handle
    /// uses it.
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

extension Multi {
    /// Tells curl about events on a socket, or with `CURL_SOCKET_TIMEOUT` that time has passed.
    ///
    /// If curl then wants to be called again immediately and has only one transfer, it is called immediately.
    /// With more transfers an iteration of the loop is better, because one call then serves all that have
    /// become due.
    func drive(_ socket: curl_socket_t, _ events: Int32) {
        loop.assertCurrent()
        if socket == CURL_SOCKET_TIMEOUT { sockets.unmute() }
        act(socket, events)
        var rounds = 0
        while rounds < 8, running.count == 1, alarm.takeDue() {
            rounds += 1
            act(CURL_SOCKET_TIMEOUT, 0)
        }
        alarm.ringIfDue()
    }

    private func act(_ socket: curl_socket_t, _ events: Int32) {
        guard let raw = unsafe raw else { return }
        // Not the number of ``running`` handles: curl counts detached ones too.
        var unfinished: Int32 = 0
        commands.begin()
        if lookups.count > 0 { lookups.liftLimits(at: loop.nanoseconds) }
        let code = unsafe curl_multi_socket_action(raw, socket, events, &unfinished)
        if code != CURLM_OK { breakDown(code) }
        continueAfterRefusals()
        runCommands()
    }

    func readMessages() {
        var left: Int32 = 0
        while let raw = unsafe raw, let message = unsafe curl_multi_info_read(raw, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE else { continue }
            // The message becomes invalid with the handle, so it is read first.
            let result = unsafe rxcurl_message_result(message)
            var context: UnsafeMutableRawPointer?
            unsafe _ = rxcurl_easy_getinfo_pointer(message.pointee.easy_handle, CURLINFO_PRIVATE, &context)
            guard let found = unsafe context else { continue }
            let handle = unsafe Unmanaged<EasyHandle>.fromOpaque(found).takeUnretainedValue()
            if result != CURLE_OK { handle.mustDiscard = true }
            if handle.lookup != nil {
                let isFailure = [CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY].contains(result)
                endLookup(of: handle, isFailure ? handle.error(result) : nil)
                // The transport's limits end a transfer earlier, unless the loop was blocked.
                if result == CURLE_OPERATION_TIMEDOUT, settings.keepsLookups { lookups.keep(handle) }
            }
            // Only a detached handle has no transfer; see ``detach(_:)``.
            if let transfer = handle.transfer { transfer.complete(handle, result) } else { release(handle) }
        }
    }
}

extension Multi {
    /// An action to perform between two calls of curl; ``Multi/apply(_:)`` performs it.
    enum Command {
        /// Queues a new transfer, or one that starts over.
        case add(Transfer)
        /// Passes a transfer that already has a handle to curl: its content has begun or turned out to be empty, or it
        /// needs another connection.
        case proceed(Transfer)
        /// Ends the transfer without an event: its consumer has cancelled it.
        case cancel(Transfer)
        /// The consumer's pause is over.
        case resume(Transfer)
        /// A limit has passed; ends the transfer with this code.
        case timeOut(Transfer, NetworkError.Code)
        /// Ends the transfer with an error that is not from curl.
        indirect case fail(Transfer, NetworkError)  // Large and rare.
        /// The content source has bytes again, or has ended; unpauses sending.
        case feed(Transfer)
        /// The response may be complete before the upload is; see ``Transfer/finishEarly()``.
        case finishEarly(Transfer)
        /// The timer of the ``ConnectionQueue``.
        case widenQueue
        /// A lookup has ended: continues these transfers, or fails them with the error. Also sent without transfers, to
        /// start queued lookups.
        indirect case endWait([Transfer], CurlError?)  // Large and rare.
        /// The transport has been shut down, or the loop ends.
        case close
    }

    /// Performs a command now, or as soon as curl has returned. Must be called on the loop.
    func perform(_ command: Command) {
        loop.preconditionCurrent()
        sockets.unmute()
        commands.append(command)
        guard !commands.isBusy else { return }
        runCommands()
        alarm.ringIfDue()
    }

    /// Applies commands and reads messages until there are none, or continues after the loop's other work:
    /// transfers that fail immediately and are sent again immediately would otherwise block the loop forever.
    func runCommands() {
        loop.assertCurrent()
        commands.begin()
        var count = 0
        let limit = isClosed.load(ordering: .relaxed) ? Self.lastBatchLimit : Self.batchLimit
        repeat {
            while count < limit, let command = commands.next() {
                count += 1
                apply(command)
            }
            readMessages()
            while let transfer = queue.next() { begin(transfer) }
        } while count < limit && !commands.isEmpty
        commands.end()
        if !commands.isEmpty { runCommandsLater() }
    }

    /// The number of commands that are applied before the loop continues with other work.
    private static let batchLimit = 256
    /// The same once the transport has been shut down, when a loop that ends waits for the rest.
    private static let lastBatchLimit = 16

    private func runCommandsLater() {
        guard !commands.isPostponed else { return }
        let isPosted = loop.post { [self] in
            commands.resume()
            guard !commands.isBusy else { return }
            runCommands()
            alarm.ringIfDue()
        }
        // A post fails when the loop has ended, or drops work that leads to more without end: then the commands are
        // dropped, too.
        if isPosted { commands.postpone() } else { commands.removeAll() }
    }

    private func apply(_ command: Command) {
        switch command {
        case .add(let transfer): add(transfer)
        case .proceed(let transfer): proceed(transfer)
        case .cancel(let transfer):
            guard transfer.abort() else { return }
            queue.yield(transfer)
            drop(transfer)
        case .resume(let transfer): transfer.resume()
        case .timeOut(let transfer, let code):
            guard !transfer.isOver else { return }
            if case .slot = transfer.attempts.lookupWait, code == .connectTimeout {
                // Nothing has been asked about the host.
                transfer.end(
                    .resources, "the resolver does not answer: \(lookups.count) name lookups are under way")
            } else {
                transfer.end(code, transfer.text(of: code))
            }
            drop(transfer)
        case .fail(let transfer, let error):
            transfer.end(error)
            drop(transfer)
        case .feed(let transfer): feed(transfer)
        case .finishEarly(let transfer): transfer.finishEarly()
        case .widenQueue: queue.widen()
        case .endWait(let transfers, let failure): endWait(transfers, failure)
        case .close: close()
        }
    }
}

/// The commands that wait until curl has returned, and whether it has.
struct CommandQueue {
    /// The commands that have arrived.
    private var arrived: [Multi.Command] = []
    /// The commands that are being applied, in reverse order.
    private var batch: [Multi.Command] = []
    /// Whether a call into curl, or the reading of its messages, is running. ``UpgradeExchange`` sets it too,
    /// while it handles the events of its socket.
    private(set) var isBusy = false
    /// Whether the remaining commands wait for the loop's next iteration.
    private(set) var isPostponed = false

    var isEmpty: Bool { batch.isEmpty && arrived.isEmpty }

    mutating func append(_ command: Multi.Command) { arrived.append(command) }

    /// Returns the next command. The two arrays take turns, and commands are moved out of them, so nothing is
    /// allocated or retained.
    mutating func next() -> Multi.Command? {
        if batch.isEmpty {
            swap(&arrived, &batch)
            batch.reverse()
        }
        return batch.popLast()
    }

    mutating func removeAll() { (arrived, batch) = ([], []) }

    /// Records that a call into curl, or the reading of its messages, begins.
    mutating func begin() { isBusy = true }

    /// Records that curl has returned and all its messages have been read.
    mutating func end() { isBusy = false }

    /// Records that the remaining commands wait for the loop's next iteration.
    mutating func postpone() { isPostponed = true }

    /// Records that this iteration has begun.
    mutating func resume() { isPostponed = false }
}

/// The time at which curl wants to be called again (`CURLMOPT_TIMERFUNCTION`).
struct CurlAlarm {
    private var timer: LoopTimer?
    private var next: Immediate?
    /// Whether curl wants to be called again immediately.
    private var isDue = false

    /// Sets the closure that calls curl. The alarm must be closed even if this throws.
    mutating func open(on loop: EventLoop, ring: @escaping () -> Void) throws(UVError) {
        next = try Immediate(on: loop, perform: ring)
        timer = LoopTimer(on: loop, onFire: ring)
    }

    /// Sets the time. −1 stops the timer; 0 means "as soon as possible, but not from within this call".
    mutating func set(milliseconds: Int) {
        isDue = milliseconds == 0
        if milliseconds > 0 { timer?.start(milliseconds: milliseconds) } else { timer?.stop() }
    }

    /// Returns and clears whether curl must be called immediately, by the caller.
    mutating func takeDue() -> Bool {
        defer { isDue = false }
        return isDue
    }

    /// Rings in the loop's next iteration if curl must be called immediately.
    mutating func ringIfDue() {
        if takeDue() { next?.request() }
    }

    mutating func close() {
        next?.close()
        next = nil
        timer?.close()
        timer = nil
    }
}
