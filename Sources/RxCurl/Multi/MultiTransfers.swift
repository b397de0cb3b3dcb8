import CLibcurl
import RxHTTP
import RxLoop
import Synchronization

extension Multi {
    func add(_ transfer: Transfer) {
        loop.assertCurrent()
        guard !transfer.isOver else { return }
        guard !isClosed.load(ordering: .relaxed) else {
            return transfer.end(.shutDown, "the transport has been shut down")
        }
        if let configurationError = settings.configurationError {
            return transfer.end(.invalidConfiguration, configurationError)
        }
        if queue.enter(transfer) { begin(transfer) }
    }

    /// Gives a handle to a transfer that has got a place, and passes it to curl.
    ///
    /// A transfer with `Expect: 100-continue` and content of unknown length waits for the first byte of the
    /// content: a client must not send the expectation without content (RFC 9110 §10.1.1).
    func begin(_ transfer: Transfer) {
        // Both read what the queue found out about the origin when the transfer entered it.
        transfer.decideHTTP3()
        transfer.decideToAsk()
        do throws(CurlError) {
            _ = try unsafe open()
            let needsNew =
                transfer.request.asksForUpgrade
                || features.has(.readsFreedHeaders) && FirstLineGuard.expectsTwoHeads(transfer)
            let kept = needsNew ? nil : pool.take()
            let handle = if let kept { kept } else { try EasyHandle(for: self) }
            handle.transfer = transfer
            transfer.handle = handle
            running.add(handle)
            limitKeptConnections()
        } catch {
            queue.leave(transfer)
            return transfer.end(error)
        }
        if transfer.awaitsContent, let source = transfer.content.source {
            transfer.start()
            if source.open(for: transfer) { return }
        }
        proceed(transfer)
    }

    /// Passes a transfer that has a handle to curl.
    func proceed(_ transfer: Transfer) {
        guard !transfer.isOver, let handle = transfer.handle, let raw = unsafe raw else { return }
        let isStarted = transfer.awaitsContent || transfer.attempts.wasPassedToCurl
        if transfer.attempts.wasPassedToCurl {
            transfer.timing.clock.restart(at: loop.nanoseconds)
        } else if transfer.awaitsContent {
            transfer.startConnecting()
        }
        if transfer.awaitsContent, transfer.content.source?.isEmpty == true {
            transfer.expectation.wait = nil
        }
        do throws(NetworkError) {
            let list = try recent.headers.list(for: transfer)
            let code: CURLMcode
            do throws(CurlError) {
                try handle.configure(for: transfer, headers: list)
                code = unsafe curl_multi_add_handle(raw, handle.raw)
                guard code == CURLM_OK else { throw CurlError(CURLE_FAILED_INIT, detail: Self.text(code)) }
            } catch {
                throw transfer.failure(error)
            }
            if !isStarted { transfer.start() }
        } catch {
            release(handle)
            transfer.end(error)
        }
    }

    /// Passes a transfer to curl again: nothing was sent, because the idle connection that curl had chosen was unclean
    /// (``ConnectionAttempts/isUnclean``), and curl has closed it. ``waitForLookup(_:_:)`` takes a handle
    /// back from curl in the same way.
    func retryOnAnotherConnection(_ transfer: Transfer, _ handle: EasyHandle) {
        transfer.attempts.isUnclean = false
        transfer.attempts.wasPassedToCurl = true
        if let raw = unsafe raw { unsafe _ = curl_multi_remove_handle(raw, handle.raw) }
        perform(.proceed(transfer))
    }

    /// Removes a transfer that is over from curl, which closes the connection of an unfinished transfer
    /// (`curl_multi_remove_handle`).
    func drop(_ transfer: Transfer) {
        guard let handle = transfer.handle else { return queue.leave(transfer) }
        handle.mustDiscard = true
        release(handle)
    }

    /// Takes the handle from its transfer and keeps it for another one.
    func release(_ handle: EasyHandle) {
        loop.assertCurrent()
        if removeDetached(handle) { return }
        running.clearReceivePaused(handle)
        handle.limits?.stop()
        if let transfer = handle.transfer.take() {
            transfer.upgrade.take()?.close()
            if let connection = transfer.connection.take() { connections.leave(connection) }
            transfer.stopEndWatch()
            transfer.handle = nil
            lookups.withdraw(transfer)
            queue.leave(transfer)
        }
        if handle.mustDiscard { handle.forbidReuse() }
        // It does the rest of this function, but curl keeps the handle until ``removeDetached(_:)``.
        if detach(handle) { return }
        if let raw = unsafe raw { unsafe _ = curl_multi_remove_handle(raw, handle.raw) }
        running.remove(handle)
        limitKeptConnections()
        if !handle.mustDiscard { pool.give(handle) }
    }
}

extension Multi {
    /// Makes curl resume a paused transfer. curl may deliver bytes before this returns.
    func unpause(_ handle: EasyHandle) {
        running.clearReceivePaused(handle)
        if let upgrade = handle.transfer?.upgrade { return upgrade.resume() }
        updatePause(of: handle)
    }

    /// Makes curl ask for content again, after there was none when it asked.
    func feed(_ transfer: Transfer) {
        if let handle = transfer.handle { updatePause(of: handle) }
    }

    /// Tells curl which of the two directions are still paused (`curl_easy_pause`).
    private func updatePause(of handle: EasyHandle) {
        let receiving = handle.isReceivePaused ? CURLPAUSE_RECV : 0
        let sending = handle.transfer?.content.source?.isStarved == true ? CURLPAUSE_SEND : 0
        let code = unsafe curl_easy_pause(handle.raw, receiving | sending)
        // An error comes from bytes that curl had kept and could not deliver; it ends the transfer in the
        // same way. A bad argument means that curl has completed the transfer, and its message will be read
        // later.
        guard code != CURLE_OK, code != CURLE_BAD_FUNCTION_ARGUMENT else { return }
        // curl has not completed the transfer, so it is removed while it runs.
        handle.mustDiscard = true
        if let transfer = handle.transfer { transfer.complete(handle, code) }
    }
}

// MARK: - Time

extension Multi {
    /// Checks whether a limit of the transfer has passed, and when to check next. Only the second check ends
    /// the transfer (``OverdueTransfers``).
    func checkLimits(of transfer: Transfer, isSecond: Bool) {
        guard !transfer.isOver, let handle = transfer.handle else { return }
        switch transfer.checkLimits() {
        case .unlimited: break
        case .wait(let time): handle.limits?.start(at: time)
        case .passed(let code) where isSecond: perform(.timeOut(transfer, code))
        case .passed: overdue.append(transfer)
        }
    }

    func recheckOverdue() {
        for transfer in overdue.takeAll() { checkLimits(of: transfer, isSecond: true) }
    }
}

/// Transfers that seem to have exceeded a limit.
///
/// After a loop was blocked, its timers are due before it has read the bytes that have arrived meanwhile.
/// Therefore these transfers get a second check after the sockets have been read.
struct OverdueTransfers {
    private var transfers: [Transfer] = []
    private var secondCheck: Immediate?

    /// Sets the closure to call for the second check.
    mutating func open(on loop: EventLoop, check: @escaping () -> Void) throws(UVError) {
        secondCheck = try Immediate(on: loop, perform: check)
    }

    mutating func append(_ transfer: Transfer) {
        transfers.append(transfer)
        secondCheck?.request()
    }

    /// Returns and removes all transfers.
    mutating func takeAll() -> [Transfer] {
        defer { transfers = [] }
        return transfers
    }

    mutating func close() {
        secondCheck?.close()
        secondCheck = nil
        transfers = []
    }
}

/// Values that most transfers have in common with the previous ones.
struct RecentValues {
    /// The status line, which is the same for most responses of a server.
    var statusLine = StatusLine()
    var addresses = AddressCache()
    var headers = HeaderListCache()
}
