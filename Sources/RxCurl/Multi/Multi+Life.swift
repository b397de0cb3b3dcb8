internal import CLibcurl
internal import RxHTTP
internal import RxLite
internal import RxLoop
import Synchronization

extension Multi {
    /// The curl handle, made on first use.
    func open() throws(CurlError) -> UnsafeMutableRawPointer {
        if let raw = unsafe raw { return unsafe raw }
        let status = Self.globalStatus
        guard status == CURLE_OK else { throw CurlError(status) }
        do throws(UVError) {
            nextDrive = try Immediate(on: loop) { [unowned self] in drive(CURL_SOCKET_TIMEOUT, 0) }
            secondLook = try Immediate(on: loop) { [unowned self] in lookAgain() }
            queue.open { [unowned self] in perform(.widenQueue) }
            if settings.keepsLookups {
                lookupTimer = LoopTimer(on: loop) { [unowned self] in removeLookups() }
            }
            timer = LoopTimer(on: loop) { [unowned self] in drive(CURL_SOCKET_TIMEOUT, 0) }
        } catch {
            closeHandles()
            throw CurlError(CURLE_FAILED_INIT, detail: error.description)
        }
        guard let made = unsafe curl_multi_init() else {
            closeHandles()
            throw CurlError(CURLE_FAILED_INIT, detail: "libcurl made no multi handle")
        }
        unsafe raw = unsafe made
        unsafe setCallbacks(made)
        unsafe setLimits(made)
        // Any handle can resume a session that is shared. One thread needs no lock functions.
        if features.has(.keepsTLSSessionsPerHandle) { unsafe share = unsafe curl_share_init() }
        if let share = unsafe share {
            unsafe _ = rxcurl_share_setopt_long(
                share, CURLSHOPT_SHARE, Int(CURL_LOCK_DATA_SSL_SESSION.rawValue))
        }
        return unsafe made
    }

    /// The queue lets no more in than there may be connections, so this limit has curl close idle ones for new ones
    /// and never makes it wait. While a name is looked up over HTTPS there may be two more for each request: one for
    /// each kind of addresses.
    private func setLimits(_ raw: UnsafeMutableRawPointer) {
        if let limit = configuration.maxConnections {
            let needed = configuration.dnsOverHTTPS == nil ? 1 : 3
            let count = min(max(1, limit), Int(Int32.max) / needed) * needed
            unsafe _ = rxcurl_multi_setopt_long(raw, CURLMOPT_MAX_TOTAL_CONNECTIONS, count)
        }
    }

    /// Ends what runs and frees everything. Nothing starts after this.
    func close() {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        endAll(.shutDown, "the transport has been shut down")
        queue.removeAll(.shutDown, "the transport has been shut down")
        shutdownHook?.cancel()
        shutdownHook = nil
        dispose()
    }

    /// curl has given the multi handle up: everything on it ends, and the next transfer gets a new one.
    func breakDown(_ code: CURLMcode) {
        endAll(.connectionLost, "libcurl gave up: \(Self.text(code))")
        dispose()
    }

    private func endAll(_ code: NetworkError.Code, _ message: String) {
        while let handle = running.last {
            handle.isSpent = true
            let transfer = handle.transfer
            release(handle)
            transfer?.end(code, message)
        }
    }

    private func dispose() {
        pool.removeAll()
        if let raw = unsafe raw { unsafe _ = curl_multi_cleanup(raw) }
        unsafe raw = nil
        lookups.removeAll()
        if let share = unsafe share { unsafe _ = curl_share_cleanup(share) }
        unsafe share = nil
        closeHandles()
    }

    private func closeHandles() {
        nextDrive?.close()
        nextDrive = nil
        queue.close()
        lookupTimer?.close()
        lookupTimer = nil
        secondLook?.close()
        secondLook = nil
        overdue = []
        timer?.close()
        timer = nil
        sockets.removeAll()
    }

    /// `curl_global_init` is to be called once, before anything else.
    private static let globalStatus = curl_global_init(Int(CURL_GLOBAL_DEFAULT))

    static func text(_ code: CURLMcode) -> String {
        unsafe String(cString: curl_multi_strerror(code))
    }
}
