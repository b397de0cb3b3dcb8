internal import CLibcurl
internal import RxHTTP
internal import RxLoop

extension Multi {
    // MARK: Connections

    /// The queue lets no more in than there may be connections, so this limit has curl close idle ones for new ones
    /// and never makes it wait. While a name is looked up over HTTPS there may be two more for each request: one for
    /// each kind of addresses.
    func setLimits(_ raw: UnsafeMutableRawPointer) {
        if let limit = configuration.maxConnections {
            let needed = configuration.dnsOverHTTPS == nil ? 1 : 3
            let count = min(max(1, limit), Int(Int32.max) / needed) * needed
            unsafe _ = rxcurl_multi_setopt_long(raw, CURLMOPT_MAX_TOTAL_CONNECTIONS, count)
        }
    }

    /// Says how many connections curl may keep. It counts those in use among them, so that a fixed number would
    /// have it close each that comes free while many are in use; and it looks when one comes free, whose transfer
    /// is among the running ones until then.
    func limitConnections() {
        guard let raw = unsafe raw else { return }
        let count = max(1, configuration.maxIdleConnections + running.count - 1)
        unsafe _ = rxcurl_multi_setopt_long(raw, CURLMOPT_MAXCONNECTS, count)
    }

    // MARK: Time

    /// Looks whether a limit of the transfer has passed, and when to look next. It is ended only by the second look
    /// (``OverdueTransfers``).
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
