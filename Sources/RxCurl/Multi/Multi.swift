internal import CLibcurl
internal import RxHTTP
internal import RxLite
internal import RxLoop
import Synchronization

/// One `CURLM *`, driven by one loop.
///
/// curl's rules shape it: one thread; no call into curl from one of its callbacks, so that commands which come
/// then wait until curl has returned; messages are read after every `curl_multi_socket_action`.
@safe
final class Multi: @unchecked Sendable {
    // Unchecked, and spared the checks of exclusivity: touched only on the loop's thread, except constants and
    // `isClosed`; nothing that leads back here is called while a variable is being changed.
    // Safe: the curl handles are made on first use and live until close(), which is what sets them to nil.

    let loop: EventLoop
    /// Which of the transport's loops it is.
    let index: Int
    let configuration: CurlTransport.Configuration
    let features: LibcurlFeatures
    /// The configuration, resolved for the libcurl that runs.
    let settings: ConnectionSettings
    /// The alternatives that origins have named.
    let alternatives: AlternativeServices?
    /// Whether the transport has been shut down. Readable from any thread.
    let isClosed = Atomic<Bool>(false)
    /// What the loop watches for curl.
    let sockets: SocketTable
    /// The transfers that wait for a connection, and the places of the others.
    let queue: ConnectionQueue

    @exclusivity(unchecked) var raw: UnsafeMutableRawPointer?
    @exclusivity(unchecked) var share: UnsafeMutableRawPointer?
    @safe @exclusivity(unchecked) var nextDrive: Immediate?
    @safe @exclusivity(unchecked) var timer: LoopTimer?
    /// Asks for a second look at ``overdue``.
    @safe @exclusivity(unchecked) var secondLook: Immediate?
    /// Transfers of which a limit seems to have passed.
    @safe @exclusivity(unchecked) var overdue: [Transfer] = []
    /// The status line, which most responses of a server share.
    @safe @exclusivity(unchecked) var statusLine = StatusLine()
    @safe @exclusivity(unchecked) var addresses = AddressCache()

    @safe @exclusivity(unchecked) var pool = EasyHandlePool()
    @safe @exclusivity(unchecked) var lookups = UnfinishedLookups()
    /// Set while there are some.
    @safe @exclusivity(unchecked) var lookupTimer: LoopTimer?
    @safe @exclusivity(unchecked) var headers = HeaderListCache()
    @safe @exclusivity(unchecked) var running: [EasyHandle] = []
    @safe @exclusivity(unchecked) var commands: [Command] = []
    /// Those that are being applied, the next one last.
    @safe @exclusivity(unchecked) var batch: [Command] = []
    /// Whether commands that are left wait for the loop's next round.
    @safe @exclusivity(unchecked) var isSettlingLater = false
    /// Whether a call into curl, or the reading of its messages, is under way.
    @safe @exclusivity(unchecked) var isBusy = false
    /// How many transfers are paused with bytes that curl keeps.
    @safe @exclusivity(unchecked) var heldCount = 0
    /// Whether curl wants to be called again at once.
    @safe @exclusivity(unchecked) var isDue = false
    var shutdownHook: (any Cancellable)?

    init(
        on loop: EventLoop, at index: Int, configuration: CurlTransport.Configuration,
        features: LibcurlFeatures, alternatives: AlternativeServices? = nil
    ) {
        self.loop = loop
        self.index = index
        self.configuration = configuration
        self.features = features
        let settings = ConnectionSettings(configuration, features)
        self.settings = settings
        let usesAlternatives = settings.http3 == .whenNamed || settings.http3 == .always
        self.alternatives = usesAlternatives ? alternatives : nil
        sockets = SocketTable(on: loop, features)
        queue = ConnectionQueue(on: loop, configuration, settings)
        sockets.report(to: self)
    }

    /// Has the loop close everything before it ends. The hook keeps this object until ``close()``.
    func closeWithLoop() {
        let hook = loop.onShutdown { self.perform(.close) }
        shutdownHook = hook
    }

    /// The pointer that leads from curl's callbacks back here. Valid until `close()`, and curl calls nobody
    /// after that.
    var context: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

    // MARK: Transfers

    func add(_ transfer: Transfer) {
        loop.assertCurrent()
        guard !transfer.isOver else { return }
        guard !isClosed.load(ordering: .relaxed) else {
            return transfer.end(.shutDown, "the transport has been shut down")
        }
        if let flaw = settings.flaw { return transfer.end(.invalidConfiguration, flaw) }
        if queue.enter(transfer) { begin(transfer) }
    }

    /// Takes a transfer that is over out of curl. An unfinished one's connection is closed with it
    /// (`curl_multi_remove_handle`).
    func drop(_ transfer: Transfer) {
        guard let handle = transfer.handle else { return queue.leave(transfer) }
        handle.isSpent = true
        release(handle)
    }

    /// Takes the handle away from its transfer and keeps it for another.
    func release(_ handle: EasyHandle) {
        loop.assertCurrent()
        letGo(handle)
        handle.limits?.stop()
        if let transfer = handle.transfer.take() {
            transfer.handle = nil
            queue.leave(transfer)
        }
        if handle.isSpent { handle.forbidReuse() }
        if let raw = unsafe raw { unsafe _ = curl_multi_remove_handle(raw, handle.raw) }
        if handle.isSpent { keepLookup(of: handle) }
        let last = running.removeLast()
        if last !== handle {
            running[handle.slot] = last
            last.slot = handle.slot
        }
        handle.slot = -1
        limitConnections()
        if !handle.isSpent { pool.give(handle) }
    }

    /// Says how many connections curl may keep. It counts those in use among them, so that a fixed number would
    /// have it close each that comes free while many are in use; and it looks when one comes free, whose transfer
    /// is among the running ones until then.
    func limitConnections() {
        guard let raw = unsafe raw else { return }
        let count = max(1, configuration.maxIdleConnections + running.count - 1)
        unsafe _ = rxcurl_multi_setopt_long(raw, CURLMOPT_MAXCONNECTS, count)
    }

    // MARK: Driving curl

    /// Tells curl what happened on a socket, or with `CURL_SOCKET_TIMEOUT` that time passed.
    ///
    /// Where curl then wants to be called again at once and has but one transfer, it is: with more of them a
    /// round of the loop is worth it, since one call then serves all that have become due.
    func drive(_ socket: curl_socket_t, _ events: Int32) {
        loop.assertCurrent()
        if socket == CURL_SOCKET_TIMEOUT { sockets.unmute() }
        act(socket, events)
        var rounds = 0
        while isDue, running.count == 1, rounds < 8 {
            isDue = false
            rounds += 1
            act(CURL_SOCKET_TIMEOUT, 0)
        }
        kickIfDue()
    }

    private func act(_ socket: curl_socket_t, _ events: Int32) {
        guard let raw = unsafe raw else { return }
        var running: Int32 = 0
        isBusy = true
        let code = unsafe curl_multi_socket_action(raw, socket, events, &running)
        if code != CURLM_OK { breakDown(code) }
        nudgeConnecting()
        settle()
    }

    /// −1 stops the timer, 0 is "as soon as you can, but not from here" (`CURLMOPT_TIMERFUNCTION`).
    func setTimer(_ milliseconds: Int) {
        isDue = milliseconds == 0
        if milliseconds > 0 { timer?.start(milliseconds: milliseconds) } else { timer?.stop() }
    }

    func kickIfDue() {
        guard isDue else { return }
        isDue = false
        nextDrive?.request()
    }

    func readMessages() {
        var left: Int32 = 0
        while let raw = unsafe raw, let message = unsafe curl_multi_info_read(raw, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE else { continue }
            // The message goes with the handle, so it is read first.
            let result = unsafe rxcurl_message_result(message)
            var context: UnsafeMutableRawPointer?
            unsafe _ = rxcurl_easy_getinfo_pointer(message.pointee.easy_handle, CURLINFO_PRIVATE, &context)
            guard let found = unsafe context else { continue }
            let handle = unsafe Unmanaged<EasyHandle>.fromOpaque(found).takeUnretainedValue()
            if result != CURLE_OK { handle.isSpent = true }
            // The only end that does not wait for a look-up.
            if result != CURLE_OPERATION_TIMEDOUT { handle.isInCurl = false }
            if let transfer = handle.transfer { transfer.complete(handle, result) } else { release(handle) }
        }
    }
}
