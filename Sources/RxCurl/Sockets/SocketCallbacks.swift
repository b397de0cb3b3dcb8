import CLibcurl
import RxHTTP
import RxLoop

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

extension Multi {
    /// Sets the callbacks in which curl says which sockets to watch and when to call it.
    func setCallbacks(_ raw: UnsafeMutableRawPointer) {
        unsafe _ = rxcurl_multi_setopt_socket(raw, CURLMOPT_SOCKETFUNCTION, onSocket)
        unsafe _ = rxcurl_multi_setopt_pointer(raw, CURLMOPT_SOCKETDATA, context)
        unsafe _ = rxcurl_multi_setopt_timer(raw, CURLMOPT_TIMERFUNCTION, onTimer)
        unsafe _ = rxcurl_multi_setopt_pointer(raw, CURLMOPT_TIMERDATA, context)
    }

    /// Returns the result of `body` for the multi handle behind a callback's context, which lives as long as
    /// curl calls.
    @inline(__always)
    static func callback<Result>(
        _ context: UnsafeMutableRawPointer?, else absent: Result, _ body: (Multi) -> Result
    ) -> Result {
        guard let context = unsafe context else { return absent }
        return unsafe Unmanaged<Multi>.fromOpaque(context)._withUnsafeGuaranteedRef(body)
    }

    /// Tells curl about events on a socket, if curl waits for any.
    func report(_ socket: curl_socket_t, _ events: Poll.Events, _ error: UVError?) {
        switch sockets.receive(socket, events, isFailed: error != nil) {
        case nil: break
        case .stop(let isUnasked):
            if isUnasked, isUnclean(socket) { ConnectedSocket(descriptor: socket).retire() }
        case .tell(let ready):
            var mask: Int32 = error == nil ? 0 : CURL_CSELECT_ERR
            if ready.contains(.readable) { mask |= CURL_CSELECT_IN }
            if ready.contains(.writable) { mask |= CURL_CSELECT_OUT }
            tell(socket, mask)
            if error != nil { sockets.restart(socket) }
        }
    }

    /// Whether an idle connection on which bytes have arrived is lost. curl also waits for nothing on the
    /// connection of a paused transfer for which it keeps bytes.
    private func isUnclean(_ socket: curl_socket_t) -> Bool {
        running.receivePausedCount == 0
            || !running.isReceivePaused(on: ConnectedSocket(descriptor: socket).localPort)
    }

    /// Tells curl that a socket is ready.
    ///
    /// A libcurl with ``LibcurlFault/spinsOnHTTP2Uploads`` asks for a writable socket until an HTTP/2 upload
    /// is done, even if the server's window is used up and nothing may be written. A socket is nearly always
    /// writable, so the loop would spin.
    private func tell(_ socket: curl_socket_t, _ mask: Int32) {
        guard mask == CURL_CSELECT_OUT else {
            sockets.unmute()
            drive(socket, mask)
            // After an error on an HTTP/2 connection curl fails only when it reads once more. From 8.4 on the error
            // leaves a message, before it nothing.
            if settings.httpVersion != .http1, mask & CURL_CSELECT_IN != 0,
                features.has(.endsHTTP2BodiesEarly) || running.haveMessage
            {
                drive(socket, CURL_CSELECT_IN)
            }
            return
        }
        let reads = sockets.contentReads
        drive(socket, mask)
        if sockets.recordWrite(socket, isIdle: reads == sockets.contentReads) { finishUploadsEarly() }
    }

    /// Ends uploads whose response is complete. When curl has a whole HTTP/2 response it no longer reads, so
    /// it would notice neither a window that opens nor that the server does not want the rest of the request
    /// (RFC 9113 §8.1).
    private func finishUploadsEarly() {
        let multiplexed = running.transfers.filter { $0.isMultiplexed }
        for transfer in multiplexed {
            if let handle = transfer.handle, transfer.isResponseComplete(handle) {
                perform(.finishEarly(transfer))
            }
        }
    }

    /// Makes curl continue transfers whose connection was refused.
    ///
    /// If one address of several refuses a connection, a libcurl with ``LibcurlFault/waitsAfterRefusals``
    /// tries the next one only when it is called again for that transfer, but until then it watches no socket
    /// and sets no timer before half of the limit has passed (`is_connected`, 7.88).
    func continueAfterRefusals() {
        guard sockets.mayHaveRefused else { return }
        for transfer in sockets.takeRefused() where !transfer.isOver && !transfer.state.isSent {
            guard let handle = transfer.handle else { continue }
            // A change of the pause state makes the transfer due immediately (`curl_easy_pause`); before the
            // request is sent, there is nothing to pause.
            unsafe _ = curl_easy_pause(handle.raw, CURLPAUSE_RECV)
            unsafe _ = curl_easy_pause(handle.raw, CURLPAUSE_CONT)
        }
    }
}

#if canImport(Glibc)
private let datagrams = Int32(SOCK_DGRAM.rawValue)
#else
private let datagrams = SOCK_DGRAM
#endif

let onOpenSocket: curl_opensocket_callback = { context, _, address in
    // Now the addresses are known.
    unsafe EasyHandle.endLookup(context)
    return unsafe EasyHandle.callback(context, else: -1) { transfer in
        guard let found = unsafe address, unsafe transfer.allows(found) else { return -1 }
        let address = unsafe found.pointee
        transfer.attempts.port = address.port
        if address.socktype == datagrams, !transfer.allowsDatagrams() { return -1 }
        #if canImport(Glibc)
        let kind = address.socktype | Int32(SOCK_CLOEXEC.rawValue)
        #else
        let kind = address.socktype
        #endif
        let descriptor = socket(address.family, kind, address.protocol)
        if descriptor >= 0 {
            transfer.multi.sockets.open(descriptor, for: transfer)
            if transfer.multi.connections.isObserved { transfer.sockets.append(descriptor) }
        } else {
            transfer.attempts.shortage = Shortage.number(errno)
        }
        return descriptor
    }
}

extension curl_sockaddr {
    /// The port; `nil` for a Unix socket. In both families it is the second member, in network byte order.
    fileprivate var port: Int? {
        guard [AF_INET, AF_INET6].contains(family) else { return nil }
        return unsafe withUnsafeBytes(of: addr) {
            Int(unsafe UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)))
        }
    }
}

let onCloseSocket: curl_closesocket_callback = { context, descriptor in
    // Before the system may give the number to another thread's descriptor; see ``SocketState/wantNothing()``.
    unsafe Multi.callback(context, else: ()) { multi in
        multi.sockets.close(descriptor)
        multi.connections.close(descriptor)
    }
    return close(descriptor)
}

let onSocket: curl_socket_callback = { _, socket, what, context, _ in
    unsafe Multi.callback(context, else: -1) { multi in
        guard what != CURL_POLL_REMOVE else { return multi.sockets.watch(socket, for: nil) ? 0 : -1 }
        var events = Poll.Events()
        if what & CURL_POLL_IN != 0 { events.insert(.readable) }
        if what & CURL_POLL_OUT != 0 { events.insert(.writable) }
        return multi.sockets.watch(socket, for: events) ? 0 : -1
    }
}

let onTimer: curl_multi_timer_callback = { _, milliseconds, context in
    unsafe Multi.callback(context, else: 0) { multi in
        multi.alarm.set(milliseconds: milliseconds)
        return 0
    }
}
