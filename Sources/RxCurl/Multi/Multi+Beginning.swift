internal import CLibcurl
internal import RxHTTP
internal import RxLoop

extension Multi {
    /// Gives a transfer that has found a place a handle, and hands it over to curl.
    ///
    /// One that asks before its content, and does not know whether there is any, waits for the first byte of it: a
    /// client does not ask where there is none (RFC 9110 §10.1.1).
    func begin(_ transfer: Transfer) {
        transfer.decideHTTP3()
        transfer.decideToAsk()
        do throws(CurlError) {
            _ = try unsafe open()
            try checkLookups()
            guard let handle = pool.take() ?? EasyHandle(for: self) else {
                throw CurlError(CURLE_FAILED_INIT)
            }
            handle.transfer = transfer
            transfer.handle = handle
            handle.slot = running.count
            running.append(handle)
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

    /// Hands a transfer that has a handle over to curl.
    func proceed(_ transfer: Transfer) {
        guard !transfer.isOver, let handle = transfer.handle, let raw = unsafe raw else { return }
        let isStarted = transfer.awaitsContent
        if isStarted { transfer.timing.clock.restart(at: loop.nanoseconds) }
        if isStarted, transfer.content.source?.isEmpty == true { transfer.expectation.wait = nil }
        do throws(NetworkError) {
            let list = try headers.list(for: transfer)
            let code: CURLMcode
            do throws(CurlError) {
                try handle.configure(for: transfer, headers: list)
                code = unsafe curl_multi_add_handle(raw, handle.raw)
                guard code == CURLM_OK else { throw CurlError(CURLE_FAILED_INIT, detail: Self.text(code)) }
                handle.isInCurl = true
            } catch {
                throw transfer.failure(error)
            }
            if !isStarted { transfer.start() }
        } catch {
            release(handle)
            transfer.end(error)
        }
    }
}
