#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// An accepted, blocking socket; all its waits end when the server stops.
struct ConnectionSocket: ~Copyable, Sendable {
    let descriptor: Descriptor
    let stop: Gate

    #if canImport(Glibc)
    private static let hangUp = Int16(0x2000)  // POLLRDHUP, which <poll.h> defines for GNU sources only
    private static let sendFlags = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)
    private static let sendingSide = CInt(SHUT_WR)
    #else
    private static let hangUp = Int16(POLLHUP)
    private static let sendFlags = MSG_DONTWAIT
    private static let sendingSide = SHUT_WR
    #endif

    init(_ descriptor: consuming Descriptor, stop: Gate) {
        var on: CInt = 1
        let size = socklen_t(MemoryLayout<CInt>.size)
        // Sends each write of a script in a separate segment; if the option fails, the test is only less
        // exact.
        _ = unsafe setsockopt(descriptor.raw, CInt(IPPROTO_TCP), TCP_NODELAY, &on, size)
        #if canImport(Darwin)
        _ = unsafe setsockopt(descriptor.raw, SOL_SOCKET, SO_NOSIGPIPE, &on, size)
        #endif
        self.descriptor = descriptor
        self.stop = stop
    }

    /// Waits for `events` on the socket, or on `other`.
    private func wait(_ events: Int16, on other: CInt? = nil) throws(RawServer.End) {
        var polls = [
            pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: other ?? descriptor.raw, events: events, revents: 0),
        ]
        while unsafe poll(&polls, nfds_t(polls.count), -1) < 0 {
            guard errno == EINTR else { throw .stopped }
        }
        if polls[0].revents != 0 { throw .stopped }
    }

    /// Returns the available bytes, at least one. Throws when the client closes.
    func receive() throws(RawServer.End) -> [UInt8] {
        try wait(Int16(POLLIN))
        var failure: CInt = 0
        let raw = descriptor.raw
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 16_384) { buffer, count in
            let received = unsafe recv(raw, buffer.baseAddress, buffer.count, 0)
            failure = received < 0 ? errno : 0
            count = max(0, received)
        }
        guard failure == 0 else { throw .clientReset }
        guard !bytes.isEmpty else { throw .clientClosed }
        return bytes
    }

    /// Sends all bytes. Calls `stalled` when it must wait for the client, and `progress` with the size of
    /// each part sent.
    func send(
        _ bytes: some Collection<UInt8>, stalled: () -> Void, progress: (Int) -> Void
    ) throws(RawServer.End) {
        let bytes = Array(bytes)
        var sent = 0
        while sent < bytes.count {
            let raw = descriptor.raw
            let count = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[sent...])
                return unsafe systemSend(raw, rest.baseAddress, rest.count, Self.sendFlags)
            }
            if count > 0 {
                sent += count
                progress(count)
            } else if errno == EAGAIN || errno == EWOULDBLOCK {
                stalled()
                try wait(Int16(POLLOUT))
            } else if errno != EINTR {
                throw .clientReset
            }
        }
    }

    /// Waits until the client has closed or reset, even if there are unread bytes before that.
    func waitForHangUp() throws(RawServer.End) {
        try wait(Self.hangUp)
    }

    func wait(for gate: Gate) throws(RawServer.End) {
        try wait(Int16(POLLIN), on: gate.descriptor)
    }

    func waitForBytes() throws(RawServer.End) { try wait(Int16(POLLIN)) }

    func endSending() { _ = shutdown(descriptor.raw, Self.sendingSide) }

    consuming func close() {}

    /// Makes the following close send RST instead of FIN and drop undelivered data (SO_LINGER 0).
    consuming func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(
            descriptor.raw, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
}

/// `send(2)`, under a name that differs from the method.
func systemSend(_ raw: CInt, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: CInt) -> Int {
    unsafe send(raw, bytes, count, flags)
}
