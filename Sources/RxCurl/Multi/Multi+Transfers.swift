internal import CLibcurl
internal import RxHTTP
internal import RxLoop
import Synchronization

extension Multi {
    func add(_ transfer: Transfer) {
        loop.assertCurrent()
        guard !transfer.isOver else { return }
        guard !isClosed.load(ordering: .relaxed) else {
            return transfer.end(.shutDown, "the transport has been shut down")
        }
        if let flaw = settings.flaw { return transfer.end(.invalidConfiguration, flaw) }
        if queue.enter(transfer) { begin(transfer) }
    }

    /// Gives a handle to a transfer that has got a place, and passes it to curl.
    ///
    /// A transfer with `Expect: 100-continue` and content of unknown length waits for the first byte of the
    /// content: a client must not send the expectation without content (RFC 9110 §10.1.1).
    func begin(_ transfer: Transfer) {
        transfer.decideHTTP3()
        transfer.decideToAsk()
        do throws(CurlError) {
            _ = try unsafe open()
            let needsNew =
                transfer.request.upgrade != nil
                || features.has(.readsFreedHeaders) && FirstLineGuard.expectsTwoHeads(transfer)
            let kept = needsNew ? nil : pool.take()
            let handle = if let kept { kept } else { try EasyHandle(for: self) }
            handle.transfer = transfer
            transfer.handle = handle
            running.add(handle)
            limitConnections()
        } catch {
            queue.leave(transfer)
            return transfer.end(error)
        }
        if transfer.awaitsContent, let source = transfer.content.source {
            transfer.start()
            return source.open(for: transfer)
        }
        proceed(transfer)
    }

    /// Passes a transfer that has a handle to curl.
    func proceed(_ transfer: Transfer) {
        guard !transfer.isOver, let handle = transfer.handle, let raw = unsafe raw else { return }
        let isStarted = transfer.awaitsContent || transfer.attempts.hasWaited
        if isStarted { transfer.timing.clock.restart(at: loop.nanoseconds) }
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

    /// Passes a transfer to curl again, which has closed the connection that it had chosen for it.
    func leaveConnection(of transfer: Transfer, _ handle: EasyHandle) {
        transfer.attempts.isUnclean = false
        transfer.attempts.hasWaited = true
        if let raw = unsafe raw { unsafe _ = curl_multi_remove_handle(raw, handle.raw) }
        perform(.proceed(transfer))
    }

    /// Removes a transfer that is over from curl, which closes the connection of an unfinished transfer
    /// (`curl_multi_remove_handle`).
    func drop(_ transfer: Transfer) {
        guard let handle = transfer.handle else { return queue.leave(transfer) }
        handle.isSpent = true
        release(handle)
    }

    /// Takes the handle from its transfer and keeps it for another one.
    func release(_ handle: EasyHandle) {
        loop.assertCurrent()
        if removeDetached(handle) { return }
        running.release(handle)
        handle.limits?.stop()
        if let transfer = handle.transfer.take() {
            transfer.upgrade.take()?.close()
            if let connection = transfer.connection.take() { connections.leave(connection) }
            transfer.stopEndWatch()
            transfer.handle = nil
            lookups.withdraw(transfer)
            queue.leave(transfer)
        }
        if handle.isSpent { handle.forbidReuse() }
        if detach(handle) { return }
        if let raw = unsafe raw { unsafe _ = curl_multi_remove_handle(raw, handle.raw) }
        running.remove(handle)
        limitConnections()
        if !handle.isSpent { pool.give(handle) }
    }
}
