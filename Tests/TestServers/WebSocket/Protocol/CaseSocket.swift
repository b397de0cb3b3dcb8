#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// An accepted socket each of whose waits has a deadline, and ends when the server stops.
struct CaseSocket: ~Copyable {
    /// The result of a read.
    enum Read {
        case bytes([UInt8])
        /// The client has closed its sending side, or the whole connection.
        case closed
        case reset
        case deadline
        /// The server was stopped.
        case stopped
    }

    private let raw: CInt
    private let stop: Gate
    /// Bytes that arrived while the socket was waiting to send.
    private var unread: [UInt8] = []
    private var isAtEnd = false

    #if canImport(Glibc)
    private static let sendFlags = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)
    private static let sendingSide = CInt(SHUT_WR)
    #else
    private static let sendFlags = MSG_DONTWAIT
    private static let sendingSide = SHUT_WR
    #endif

    /// - Parameter raw: the socket, which the caller closes.
    init(_ raw: CInt, stop: Gate) {
        self.raw = raw
        self.stop = stop
        var on: CInt = 1
        let size = socklen_t(MemoryLayout<CInt>.size)
        // Each write is a segment; if the option fails, the cases with chops are only less exact.
        _ = unsafe setsockopt(raw, CInt(IPPROTO_TCP), TCP_NODELAY, &on, size)
        #if canImport(Darwin)
        _ = unsafe setsockopt(raw, SOL_SOCKET, SO_NOSIGPIPE, &on, size)
        #endif
    }

    /// Returns what has arrived, as soon as there is anything.
    mutating func receive(until deadline: ContinuousClock.Instant) -> Read {
        if !unread.isEmpty {
            defer { unread = [] }
            return .bytes(unread)
        }
        if isAtEnd { return .closed }
        switch wait(for: Int16(POLLIN), until: deadline) {
        case .stopped: return .stopped
        case .deadline: return .deadline
        case .ready: return read()
        }
    }

    /// Sends all bytes, and meanwhile takes what arrives, so that two full buffers cannot wait for each
    /// other. False if the client has gone or takes nothing until the deadline.
    mutating func send(_ bytes: ArraySlice<UInt8>, until deadline: ContinuousClock.Instant) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let raw = raw
            let count = unsafe rest.withUnsafeBytes {
                unsafe systemSend(raw, $0.baseAddress, $0.count, Self.sendFlags)
            }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN || errno == EWOULDBLOCK {
                let events = Int16(POLLOUT) | (isAtEnd ? 0 : Int16(POLLIN))
                guard case .ready(let happened) = wait(for: events, until: deadline) else { return false }
                if happened & Int16(POLLIN) != 0, !isAtEnd {
                    switch read() {
                    case .bytes(let more): unread += more
                    default: isAtEnd = true
                    }
                }
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Gives the segment just written a moment to leave, as the suite does between chops.
    func breathe() { usleep(10) }

    /// Closes the sending side; the client sees the end of the stream.
    func endSending() { _ = shutdown(raw, Self.sendingSide) }

    /// Makes the close that follows send RST, as the suite drops a connection once the close frames have been
    /// exchanged.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(
            raw, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    private mutating func read() -> Read {
        var failure: CInt = 0
        let raw = raw
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 256 << 10) { buffer, count in
            let received = unsafe recv(raw, buffer.baseAddress, buffer.count, 0)
            failure = received < 0 ? errno : 0
            count = max(0, received)
        }
        if failure != 0 {
            isAtEnd = true
            return .reset
        }
        if bytes.isEmpty { isAtEnd = true }
        return bytes.isEmpty ? .closed : .bytes(bytes)
    }

    private enum Wait {
        case ready(Int16)
        case deadline, stopped
    }

    private func wait(for events: Int16, until deadline: ContinuousClock.Instant) -> Wait {
        while true {
            let left = ContinuousClock.now.duration(to: deadline)
            // Rounds up: a wait that ends a little early would poll without waiting until the deadline.
            let milliseconds = left <= .zero ? 0 : left / .milliseconds(1) + 1
            var polls = [
                pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: raw, events: events, revents: 0),
            ]
            let count = unsafe poll(&polls, nfds_t(polls.count), CInt(min(milliseconds, 60_000)))
            guard count >= 0 || errno == EINTR else { return .stopped }
            if polls[0].revents != 0 { return .stopped }
            if polls[1].revents != 0 { return .ready(polls[1].revents) }
            if left <= .zero { return .deadline }
        }
    }
}
