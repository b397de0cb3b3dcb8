import CLibcurl
import RxLoop

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The sockets of a multi handle, by descriptor: performs with the loop's polls the actions of
/// ``SocketState``.
final class SocketTable {
    // Without checks of exclusivity: touched only on the loop, which the calls assert; nothing that leads
    // back here is called while a variable is being changed.

    private let loop: EventLoop
    /// Whether transfers are told that a connection failed (``LibcurlFault/waitsAfterRefusals``).
    private let tellsRefusals: Bool
    /// Whether sockets are muted (``LibcurlFault/spinsOnHTTP2Uploads``).
    private let mutesIdleWrites: Bool
    /// The receiver of the polls' reports.
    private unowned var multi: Multi?

    @safe @exclusivity(unchecked) private(set) var entries: [WatchedSocket] = []
    /// Sockets of connections in progress that curl may not watch. ``takeRefused()`` checks and removes them
    /// after each call of curl.
    @safe @exclusivity(unchecked) private var unwatched: [Int] = []
    /// Transfers whose connection was refused.
    @safe @exclusivity(unchecked) private var refused: [Transfer] = []
    /// Sockets that are not watched for writability although curl wants it.
    @safe @exclusivity(unchecked) private var muted: [Int] = []
    /// How often curl has asked for content; a write during which this stays the same is idle.
    @safe @exclusivity(unchecked) private(set) var contentReads = 0

    init(on loop: EventLoop, _ features: LibcurlFeatures) {
        self.loop = loop
        tellsRefusals = features.has(.waitsAfterRefusals)
        mutesIdleWrites = features.has(.spinsOnHTTP2Uploads)
    }

    /// Sets the receiver of the polls' reports, which must outlive them.
    func report(to multi: Multi) { self.multi = multi }

    // MARK: - Events from curl

    /// Records a socket that curl opens for a transfer.
    func open(_ socket: curl_socket_t, for transfer: Transfer) {
        let index = grow(to: socket)
        forget(index)
        entries[index].state = .opened(isAwaited: tellsRefusals)
        guard tellsRefusals else { return }
        entries[index].connecting = transfer
        unwatched.append(index)
    }

    /// Records that the socket is about to be closed; its poll is closed first.
    func close(_ socket: curl_socket_t) {
        loop.assertCurrent()
        if Int(socket) < entries.count { forget(Int(socket)) }
    }

    /// Watches a socket for the events that curl wants, or for none if `events` is `nil`; false if it cannot
    /// be watched.
    func watch(_ socket: curl_socket_t, for events: Poll.Events?) -> Bool {
        guard socket >= 0 else { return false }
        let index = grow(to: socket)
        if let events { return perform(entries[index].state.want(events), on: index) }
        _ = perform(entries[index].state.wantNothing(), on: index)
        if entries[index].state.stage == .connecting { unwatched.append(index) }
        return true
    }

    /// Records that a transfer has ended on this socket.
    ///
    /// - Parameters:
    ///   - isShared: whether the connection carries many transfers at a time.
    ///   - connection: counts the connection, if connections are counted.
    func keep(
        _ socket: curl_socket_t, isShared: Bool, as connection: @autoclosure () -> LoopLoad.ConnectionCount?
    ) {
        loop.assertCurrent()
        let index = Int(socket)
        guard index < entries.count, entries[index].state.stage != .foreign else { return }
        entries[index].connecting = nil
        entries[index].connection = connection()
        _ = perform(entries[index].state.keep(isShared: isShared), on: index)
    }

    /// Whether bytes or the end have arrived on a connection that has been idle and carries one transfer at a time.
    func isUnclean(_ socket: curl_socket_t) -> Bool {
        loop.assertCurrent()
        let index = Int(socket)
        return index < entries.count && entries[index].state.stage == .kept(isShared: false)
            && ConnectedSocket(descriptor: socket).hasInput
    }

    // MARK: - Events from the loop

    /// Takes the report of a poll; `nil` if the socket is no longer known.
    func receive(_ socket: curl_socket_t, _ events: Poll.Events, isFailed: Bool) -> SocketState.Report? {
        loop.assertCurrent()
        let index = Int(socket)
        guard index < entries.count else { return nil }
        let report = entries[index].state.receive(events, isFailed: isFailed)
        if case .stop = report { entries[index].poll?.stop() }
        return report
    }

    /// Continues to watch a socket after polling failed, unless curl stops using it.
    func restart(_ socket: curl_socket_t) {
        loop.assertCurrent()
        let index = Int(socket)
        if index < entries.count { _ = perform(entries[index].state.restart(), on: index) }
    }

    // MARK: - Muting

    /// Records that curl asks for content.
    func recordContentRead() { contentReads &+= 1 }

    /// Records that a socket was writable and nothing else.
    ///
    /// - Parameter isIdle: whether curl did not ask for content to write.
    /// - Returns: whether the socket is no longer watched for any event.
    func recordWrite(_ socket: curl_socket_t, isIdle: Bool) -> Bool {
        loop.assertCurrent()
        let index = Int(socket)
        guard mutesIdleWrites, index < entries.count,
            case .mute(let action) = entries[index].state.recordWrite(isIdle: isIdle)
        else { return false }
        muted.append(index)
        _ = perform(action, on: index)
        return action == .stop
    }

    /// Whether sockets are muted: not watched for writability although curl wants it.
    var hasMuted: Bool { !muted.isEmpty }

    /// Watches the muted sockets again for the events that curl wants.
    func unmute() {
        loop.assertCurrent()
        guard hasMuted else { return }
        let indices = muted
        muted = []
        for index in indices where index < entries.count {
            _ = perform(entries[index].state.unmute(), on: index)
        }
    }

    // MARK: - Refused connections

    /// Whether there may be transfers whose connection was refused.
    var mayHaveRefused: Bool { !unwatched.isEmpty || !refused.isEmpty }

    /// Returns the transfers whose connection was refused. Each socket reports its transfer once.
    func takeRefused() -> [Transfer] {
        loop.assertCurrent()
        for index in unwatched where index < entries.count && entries[index].state.wanted.isEmpty {
            recordRefused(index)
        }
        unwatched.removeAll(keepingCapacity: true)
        defer { refused = [] }
        return refused
    }

    private func recordRefused(_ index: Int) {
        guard entries[index].state.giveUpConnecting() else { return }
        if let transfer = entries[index].connecting { refused.append(transfer) }
        entries[index].connecting = nil
    }

    // MARK: - The polls

    /// Closes the polls and forgets all entries.
    func removeAll() {
        loop.assertCurrent()
        for entry in entries { entry.poll?.close() }
        (entries, unwatched, refused, muted) = ([], [], [], [])
    }

    private func grow(to socket: curl_socket_t) -> Int {
        loop.assertCurrent()
        while entries.count <= Int(socket) { entries.append(WatchedSocket()) }
        return Int(socket)
    }

    private func forget(_ index: Int) {
        entries[index].poll?.close()
        recordRefused(index)
        entries[index] = WatchedSocket()
    }

    /// Performs an action; false if there can be no poll.
    private func perform(_ action: SocketState.PollAction, on index: Int) -> Bool {
        switch action {
        case .nothing: break
        case .stop: entries[index].poll?.stop()
        case .close:
            entries[index].poll?.close()
            entries[index].poll = nil
        case .report(let events):
            guard let poll = entries[index].poll ?? makePoll(of: index) else {
                entries[index].state.cannotPoll()
                return false
            }
            poll.start(events)
        }
        return true
    }

    private func makePoll(of index: Int) -> Poll? {
        guard let multi else { return nil }
        let socket = curl_socket_t(index)
        let poll = try? Poll(on: loop, descriptor: socket) { [unowned multi] events, error in
            multi.report(socket, events, error)
        }
        entries[index].poll = poll
        return poll
    }
}

/// A socket of curl with the objects that the loop and the transport have for it.
struct WatchedSocket {
    var state = SocketState()
    /// Present as long as the state has events for it.
    var poll: Poll?
    /// Counts the connection among those of all loops.
    var connection: LoopLoad.ConnectionCount?
    /// The transfer that the connection is being made for.
    weak var connecting: Transfer?
}

/// The system calls on a connected socket.
struct ConnectedSocket {
    let descriptor: Int32

    /// The local port of the connection; 0 for a Unix socket.
    var localPort: Int {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isKnown = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            let address = unsafe bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return unsafe getsockname(descriptor, address, &size) == 0
        }
        guard isKnown else { return 0 }
        // In both families the port is the second member, in network byte order (sockaddr_in, sockaddr_in6).
        guard [AF_INET, AF_INET6].contains(Int32(storage.ss_family)) else { return 0 }
        return unsafe withUnsafeBytes(of: storage) { bytes in
            Int(unsafe UInt16(bigEndian: bytes.load(fromByteOffset: 2, as: UInt16.self)))
        }
    }

    /// Whether bytes wait to be read, or the connection has ended.
    var hasInput: Bool {
        var byte: UInt8 = 0
        let count = unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count >= 0 || errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR
    }

    /// Shuts down both directions of an idle connection on which bytes have arrived, so that libcurl treats
    /// it as dead (``LibcurlFault/reusesUncleanConnections``). Over TLS the bytes may have been a session
    /// ticket; the connection is lost anyway, because only reading would show this.
    func retire() {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
        // libcurl checks whether there are bytes to read. Later bytes are refused (RFC 1122 §4.2.2.13).
        var bytes: [UInt8] = Array(repeating: 0, count: 16 << 10)
        while unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
    }
}
