internal import CLibcurl
internal import RxLoop

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// One socket of curl's, as the loop watches it.
struct Watch {
    var poll: Poll?
    /// What curl waits for.
    var wanted: Poll.Events = []
    /// What the loop reports.
    var started: Poll.Events = []
    /// Whether curl opened it through us.
    var isOwned = false
    /// Whether the poll stays when curl waits for nothing.
    var isKept = false
    /// Whether what comes on it is HTTP/1 as it stands.
    var isPlain = false
    /// How often in a row it was writable and curl took nothing to write; see ``Multi/mute(_:)``.
    var idleWrites = 0
    /// Its place among the connections of all loops.
    var connection: LoopShares.Connection?
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
        let index = Int(socket)
        guard index >= 0 else { return false }
        while sockets.count <= index { sockets.append(Watch()) }
        if what == CURL_POLL_REMOVE {
            sockets[index].wanted = []
            if !sockets[index].isKept { unwatch(index) }
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
            if heldCount == 0 { retire(index) }
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

    /// Makes an idle connection on which something came read as closed, which is all that libcurl 7.88 looks at
    /// before it uses it again: it takes one that was reset for alive, and bytes that came unasked, such as a
    /// 408, for the next answer. What comes over TLS may be the session's own.
    private func retire(_ index: Int) {
        let socket = Int32(index)
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        unsafe _ = getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &size)
        guard sockets[index].isPlain else { return }
        var bytes: [UInt8] = Array(repeating: 0, count: 4096)
        for _ in 0..<16 {
            guard unsafe recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 else { return }
            _ = shutdown(socket, Int32(SHUT_RDWR))
        }
    }

    /// A transfer came to its end on this socket. From then on curl closes it through us; one that is not
    /// connected yet libcurl 7.88 closes without a word (`cf_socket_close`).
    ///
    /// - Parameters:
    ///   - isPlain: whether nothing but HTTP/1 comes on it.
    ///   - connection: what counts it, if connections are counted.
    func keepWatching(
        _ socket: curl_socket_t, isPlain: Bool, as connection: @autoclosure () -> LoopShares.Connection?
    ) {
        let index = Int(socket)
        guard index < sockets.count, sockets[index].isOwned else { return }
        sockets[index].isKept = true
        sockets[index].isPlain = isPlain
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
        sockets[index] = Watch()
    }

    /// Notes a socket that curl opened.
    fileprivate func opened(_ socket: curl_socket_t) {
        let index = Int(socket)
        while sockets.count <= index { sockets.append(Watch()) }
        forget(index)
        sockets[index].isOwned = true
    }

    /// The socket is about to be closed; its poll goes first.
    fileprivate func closing(_ socket: curl_socket_t) {
        if Int(socket) < sockets.count { forget(Int(socket)) }
    }
}

let onOpenSocket: curl_opensocket_callback = { context, _, address in
    unsafe EasyHandle.callback(context, else: -1) { transfer in
        guard let found = unsafe address, unsafe transfer.allows(found) else { return -1 }
        let address = unsafe found.pointee
        #if canImport(Glibc)
            let kind = address.socktype | Int32(SOCK_CLOEXEC.rawValue)
        #else
            let kind = address.socktype
        #endif
        let descriptor = socket(address.family, kind, address.protocol)
        if descriptor >= 0 { transfer.multi.opened(descriptor) }
        return descriptor
    }
}

let onCloseSocket: curl_closesocket_callback = { context, descriptor in
    unsafe Multi.callback(context, else: ()) { $0.closing(descriptor) }
    return close(descriptor)
}
