internal import CLibcurl
internal import RxHTTP
internal import RxLoop

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// One socket of curl's, as the loop watches it.
struct Watch {
    var poll: Poll?
    /// The events that curl waits for.
    var wanted: Poll.Events = []
    /// The events that the loop reports.
    var started: Poll.Events = []
    /// Whether curl opened it through us.
    var isOwned = false
    /// Whether the poll stays when curl waits for nothing.
    var isKept = false
    /// Whether many transfers may be on it at a time, as over HTTP/2, where a server may send at any time.
    var isShared = false
    /// How often in a row it was writable and curl took nothing to write; see ``Multi/mute(_:)``.
    var idleWrites = 0
    /// Its place among the connections of all loops.
    var connection: LoopShares.Connection?
    /// The transfer that a connection is begun for.
    weak var connecting: Transfer?
}

extension Multi {
    func setCallbacks(_ raw: UnsafeMutableRawPointer) {
        unsafe _ = rxcurl_multi_setopt_socket(raw, CURLMOPT_SOCKETFUNCTION) { _, socket, what, context, _ in
            unsafe Multi.callback(context, else: -1) { $0.watch(socket, what) ? 0 : -1 }
        }
        unsafe _ = rxcurl_multi_setopt_pointer(raw, CURLMOPT_SOCKETDATA, context)
        unsafe _ = rxcurl_multi_setopt_timer(raw, CURLMOPT_TIMERFUNCTION) { _, milliseconds, context in
            unsafe Multi.callback(context, else: 0) { multi in
                multi.setTimer(milliseconds)
                return 0
            }
        }
        unsafe _ = rxcurl_multi_setopt_pointer(raw, CURLMOPT_TIMERDATA, context)
    }

    /// What `body` makes of the multi behind a callback's context, which lives as long as curl calls.
    @inline(__always)
    static func callback<Result>(
        _ context: UnsafeMutableRawPointer?, else absent: Result, _ body: (Multi) -> Result
    ) -> Result {
        guard let context = unsafe context else { return absent }
        return unsafe Unmanaged<Multi>.fromOpaque(context)._withUnsafeGuaranteedRef(body)
    }

    /// Watches for what curl wants of a socket now; false if it cannot be watched.
    ///
    /// A connection that goes idle is not taken out of the poll: it mostly is wanted again before anything
    /// happens on it, and taking it out and putting it in are two system calls each. Only such a socket can be
    /// left there as is sure to be closed through us: the loop must hear of it before its number is used anew,
    /// and libuv ends the process when it is to watch a closed one.
    private func watch(_ socket: curl_socket_t, _ what: Int32) -> Bool {
        loop.assertCurrent()
        let index = Int(socket)
        guard index >= 0 else { return false }
        while sockets.count <= index { sockets.append(Watch()) }
        if what == CURL_POLL_REMOVE {
            sockets[index].wanted = []
            if !sockets[index].isKept { unwatch(index) }
            noteUnwatched(index)
            return true
        }
        var wanted: Poll.Events = []
        if what & CURL_POLL_IN != 0 { wanted.insert(.readable) }
        if what & CURL_POLL_OUT != 0 { wanted.insert(.writable) }
        sockets[index].wanted = wanted
        sockets[index].idleWrites = 0
        return start(index, wanted)
    }

    func start(_ index: Int, _ events: Poll.Events) -> Bool {
        loop.assertCurrent()
        if sockets[index].started == events { return true }
        if sockets[index].poll == nil {
            let socket = curl_socket_t(index)
            sockets[index].poll = try? Poll(on: loop, descriptor: socket) { [unowned self] events, error in
                report(index, events, error)
            }
        }
        guard let poll = sockets[index].poll else { return false }
        poll.start(events)
        sockets[index].started = events
        return true
    }

    private func report(_ index: Int, _ events: Poll.Events, _ error: UVError?) {
        guard index < sockets.count else { return }
        let wanted = sockets[index].wanted
        guard !wanted.isEmpty else {
            sockets[index].poll?.stop()
            sockets[index].started = []
            // curl waits for nothing on the connection of a paused transfer either.
            if isUnclean(index) { retire(index) }
            return
        }
        // libuv has stopped the poll. Whether it was the peer, and whether there still is something to read,
        // curl finds out by reading.
        if error != nil { sockets[index].started = [] }
        var mask: Int32 = error == nil ? 0 : CURL_CSELECT_ERR
        let ready = error == nil ? events : wanted
        if ready.contains(.readable) { mask |= CURL_CSELECT_IN }
        if ready.contains(.writable) { mask |= CURL_CSELECT_OUT }
        let isWriting = mask == CURL_CSELECT_OUT
        let reads = contentReads
        if !isWriting { unmute() }
        drive(curl_socket_t(index), mask)
        if isWriting { noteWrite(index, isIdle: reads == contentReads) }
        guard error != nil, index < sockets.count else { return }
        let after = sockets[index]
        if !after.wanted.isEmpty, after.started.isEmpty, let poll = after.poll {
            poll.start(after.wanted)
            sockets[index].started = after.wanted
        }
    }

    /// Whether an idle connection on which something came is lost.
    private func isUnclean(_ index: Int) -> Bool {
        features.has(.reusesUncleanConnections) && sockets[index].isKept && !sockets[index].isShared
            && !isHeld(index)
    }

    /// Whether the connection is that of a transfer that is paused with bytes that curl keeps.
    private func isHeld(_ index: Int) -> Bool {
        guard heldCount > 0 else { return false }
        let port = Self.localPort(of: curl_socket_t(index))
        return running.contains { $0.isHeld && $0.transfer?.metrics.localPort == port }
    }

    /// The port at this end of a connection; 0 for a Unix socket.
    private static func localPort(of socket: curl_socket_t) -> Int {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isKnown = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            let address = unsafe bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return unsafe getsockname(socket, address, &size) == 0
        }
        guard isKnown else { return 0 }
        // Of both families the port is the second member, in network order (sockaddr_in, sockaddr_in6).
        guard [AF_INET, AF_INET6].contains(Int32(storage.ss_family)) else { return 0 }
        return unsafe withUnsafeBytes(of: storage) { bytes in
            Int(unsafe UInt16(bigEndian: bytes.load(fromByteOffset: 2, as: UInt16.self)))
        }
    }

    /// Closes both directions of an idle connection on which something came, so that libcurl takes it for dead
    /// (``LibcurlFault/reusesUncleanConnections``). Over TLS it may have been a ticket of the session's; the connection
    /// is lost all the same, since only reading would tell.
    private func retire(_ index: Int) {
        let socket = Int32(index)
        _ = shutdown(socket, Int32(SHUT_RDWR))
        // libcurl looks whether there is something to read. What comes from now on is refused (RFC 1122 §4.2.2.13).
        var bytes: [UInt8] = Array(repeating: 0, count: 16 << 10)
        while unsafe recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
    }

    /// A transfer came to its end on this socket. From then on curl closes it through us; one that is not
    /// connected yet libcurl before 8.2 closes without a word (`cf_socket_close`).
    ///
    /// - Parameters:
    ///   - isShared: whether many transfers may be on it at a time.
    ///   - connection: what counts it, if connections are counted.
    func keepWatching(
        _ socket: curl_socket_t, isShared: Bool, as connection: @autoclosure () -> LoopShares.Connection?
    ) {
        let index = Int(socket)
        guard index < sockets.count, sockets[index].isOwned else { return }
        sockets[index].connecting = nil
        sockets[index].isKept = true
        sockets[index].isShared = isShared
        sockets[index].connection = connection()
        if sockets[index].started.isEmpty { _ = start(index, .readable) }
    }

    private func unwatch(_ index: Int) {
        sockets[index].poll?.close()
        sockets[index].poll = nil
        sockets[index].started = []
    }

    private func forget(_ index: Int) {
        unwatch(index)
        noteClosed(index)
        sockets[index] = Watch()
    }

    /// Notes a socket that curl opened for a transfer.
    fileprivate func opened(_ socket: curl_socket_t, for transfer: Transfer) {
        let index = Int(socket)
        while sockets.count <= index { sockets.append(Watch()) }
        forget(index)
        sockets[index].isOwned = true
        noteConnecting(index, transfer)
    }

    /// The socket is about to be closed; its poll goes first.
    fileprivate func closing(_ socket: curl_socket_t) {
        if Int(socket) < sockets.count { forget(Int(socket)) }
    }
}

#if canImport(Glibc)
    private let datagrams = Int32(SOCK_DGRAM.rawValue)
#else
    private let datagrams = SOCK_DGRAM
#endif

let onOpenSocket: curl_opensocket_callback = { context, _, address in
    unsafe EasyHandle.callback(context, else: -1) { transfer in
        guard let found = unsafe address, unsafe transfer.allows(found) else { return -1 }
        let address = unsafe found.pointee
        if address.socktype == datagrams, !transfer.allowsDatagrams() { return -1 }
        #if canImport(Glibc)
            let kind = address.socktype | Int32(SOCK_CLOEXEC.rawValue)
        #else
            let kind = address.socktype
        #endif
        let descriptor = socket(address.family, kind, address.protocol)
        if descriptor >= 0 { transfer.multi.opened(descriptor, for: transfer) }
        return descriptor
    }
}

let onCloseSocket: curl_closesocket_callback = { context, descriptor in
    unsafe Multi.callback(context, else: ()) { $0.closing(descriptor) }
    return close(descriptor)
}
