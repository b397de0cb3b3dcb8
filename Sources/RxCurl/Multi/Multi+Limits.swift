internal import CLibcurl
internal import RxHTTP
internal import RxLoop

extension Multi {
    // MARK: Connections

    /// Sets curl's limit of connections. The queue does not admit more transfers than connections, so with
    /// this limit curl closes idle connections for new ones and never waits. During a name lookup over HTTPS
    /// there may be two more connections for each request: one for each kind of addresses.
    func setLimits(_ raw: UnsafeMutableRawPointer) {
        if let limit = configuration.maxConnections {
            let needed = configuration.dnsOverHTTPS == nil ? 1 : 3
            let count = min(max(1, limit), Int(Int32.max) / needed / 2) * needed
            unsafe _ = rxcurl_multi_setopt_long(
                raw, CURLMOPT_MAX_TOTAL_CONNECTIONS,
                count + upgrades.count + lookups.detachedCount * needed)
        }
    }

    /// Sets how many connections curl may keep. curl includes connections in use in this number, so with a
    /// fixed number it would close each one that becomes idle while many are in use. It checks the number
    /// when a connection becomes idle, while the transfer of that connection still counts as running.
    func limitConnections() {
        guard let raw = unsafe raw else { return }
        let count = max(1, configuration.maxIdleConnections + running.count + lookups.detachedCount - 1)
        unsafe _ = rxcurl_multi_setopt_long(raw, CURLMOPT_MAXCONNECTS, count)
    }

    /// Lets as many names be looked up at a time as ``NameLookups`` begins, each for both kinds of addresses
    /// (`CURLMOPT_RESOLVE_THREADS_MAX`), and keeps libcurl from waiting for those under way when it is closed
    /// (`CURLMOPT_QUICK_EXIT`). From 8.20 on, libcurl has a pool of 20 threads for lookups; before, it does not know
    /// these options and needs neither.
    func setLookups(_ raw: UnsafeMutableRawPointer) {
        unsafe _ = rxcurl_multi_setopt_long(raw, CURLMoption(rawValue: 20), 2 * lookups.limit)
        unsafe _ = rxcurl_multi_setopt_long(raw, CURLMoption(rawValue: 21), 1)
    }

    // MARK: Time

    /// Checks whether a limit of the transfer has passed, and when to check next. Only the second check ends
    /// the transfer (``OverdueTransfers``).
    func look(at transfer: Transfer, isSecond: Bool) {
        guard !transfer.isOver, let handle = transfer.handle else { return }
        switch transfer.look() {
        case .unlimited: break
        case .wait(let time): handle.limits?.start(at: time)
        case .passed(let code) where isSecond: perform(.timeOut(transfer, code))
        case .passed: overdue.append(transfer)
        }
    }

    func lookAgain() {
        for transfer in overdue.takeAll() { look(at: transfer, isSecond: true) }
    }
}
