internal import CLibcurl
internal import RxHTTP
internal import RxLoop

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
        var running: Int32 = 0
        commands.begin()
        if lookups.count > 0 { lookups.liftLimits(at: loop.nanoseconds) }
        let code = unsafe curl_multi_socket_action(raw, socket, events, &running)
        if code != CURLM_OK { breakDown(code) }
        nudgeConnecting()
        settle()
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
            if result != CURLE_OK { handle.isSpent = true }
            if handle.lookup != nil {
                let isFailure = [CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY].contains(result)
                endLookup(of: handle, isFailure ? handle.error(result) : nil)
                // The transport's limits end a transfer earlier, unless the loop was blocked.
                if result == CURLE_OPERATION_TIMEDOUT, settings.keepsLookups { lookups.keep(handle) }
            }
            if let transfer = handle.transfer { transfer.complete(handle, result) } else { release(handle) }
        }
    }
}
