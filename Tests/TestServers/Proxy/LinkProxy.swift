import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A link to a server on loopback that breaks: after so many bytes all of its connections are reset. It counts the bytes of
/// the content that passes it, by HTTP/1.1.
///
/// Bytes that a broken connection takes along are lost by the link. Bytes that are sent again although the server has
/// confirmed them are lost by the client: those of a `PATCH` before the offset that the server has told (`Upload-Offset`),
/// and those of a part (`partNumber`) that the server has accepted.
public final class LinkProxy: Sendable {
    /// The counts of a link.
    public struct Counts: Sendable {
        /// The accepted connections.
        public internal(set) var connections = 0
        /// How often all connections have been reset.
        public internal(set) var cuts = 0
        /// The bytes from clients, without the heads of requests.
        public internal(set) var uploaded = 0
        /// The bytes handed to clients, with the heads of responses.
        public internal(set) var downloaded = 0
        /// The bytes from clients that the server had confirmed before.
        public internal(set) var repeated = 0
        /// The bytes to clients that were in the system's buffers when a connection ended before its time.
        public internal(set) var inFlight = 0
        /// The requests with the method `DELETE` whose responses have begun.
        public internal(set) var deletions = 0
        /// The number of parts that the server has accepted.
        public var partCount: Int { parts.count }
        /// The bytes in both directions.
        public var passed: Int { uploaded + downloaded }
        /// The greatest offset that the server has told.
        var confirmed = 0
        /// The parts that the server has accepted.
        var parts: Set<String> = []
        var nextCut = Int.max
    }

    /// The counts so far.
    public let counts = Board(Counts())
    /// The port on 127.0.0.1.
    public let port: UInt16
    private let core: Core
    private let stopping: Gate
    private let accepting: Mutex<JoinableThread?>

    /// `http://127.0.0.1:port`, without a trailing slash.
    public var baseURL: String { "http://127.0.0.1:\(port)" }

    /// Starts a link to a port of 127.0.0.1.
    ///
    /// - Parameter lives: the numbers of bytes after which the link breaks, one after another.
    public init(to port: UInt16, breakingAfter lives: [Int] = []) throws(SystemError) {
        let listener = try Listener()
        let stopping = try Gate()
        self.port = listener.port
        self.stopping = stopping
        let core = Core(port, counts, lives, stopping)
        self.core = core
        accepting = Mutex(nil)
        let acceptor = ConnectionAcceptor(listener, stopping: stopping) { core.serve($0) }
        let thread = try JoinableThread { acceptor.run() }
        accepting.withLock { $0 = thread }
    }

    deinit { stop() }

    /// Resets all connections.
    public func cut() { core.cut() }

    /// Lets nothing pass until ``resume()``.
    public func pause() { core.isPaused.store(true, ordering: .relaxed) }

    /// Lets bytes pass again.
    public func resume() { core.isPaused.store(false, ordering: .relaxed) }

    /// Counts the bytes to clients that these have not read, for a client that is stopped and will be killed.
    public func countInFlight() { core.countInFlight() }

    /// Leads to another port from the next connection on.
    public func lead(to port: UInt16) { core.target.store(port, ordering: .relaxed) }

    /// Closes all connections.
    public func stop() {
        stopping.open()
        if let thread = accepting.withLock({ $0.take() }) { thread.join() }
    }

    fileprivate final class Core: Sendable {
        let target: Atomic<UInt16>
        let counts: Board<Counts>
        let stopping: Gate
        let isPaused = Atomic(false)
        /// The number of the current life of the link; a connection of an earlier one is reset.
        let life = Atomic(0)
        private let lives: Mutex<[Int]>
        private let clients = Mutex<[CInt: UInt16]>([:])

        init(_ port: UInt16, _ counts: Board<Counts>, _ lives: [Int], _ stopping: Gate) {
            target = Atomic(port)
            self.counts = counts
            self.lives = Mutex(Array(lives.dropFirst()))
            self.stopping = stopping
            if let first = lives.first { counts.update { $0.nextCut = first } }
        }

        func cut() {
            life.add(1, ordering: .relaxed)
            counts.update { $0.cuts += 1 }
        }

        /// Counts bytes, and breaks the link when its time has come.
        func count(_ change: (inout Counts) -> Void) {
            let isOver = counts.update { counts in
                change(&counts)
                guard counts.passed >= counts.nextCut else { return false }
                let next = lives.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                counts.nextCut = next.map { counts.passed + $0 } ?? .max
                return true
            }
            if isOver { cut() }
        }

        func serve(_ client: CInt) {
            counts.update { $0.connections += 1 }
            guard let upstream = try? Descriptor.connected(to: target.load(ordering: .relaxed)) else {
                return Self.makeReset(client)
            }
            clients.withLock { $0[client] = Self.peerPort(client) }
            LinkConnection(client, upstream.raw, self).run()
            _ = clients.withLock { $0.removeValue(forKey: client) }
        }

        func countInFlight() {
            let open = clients.withLock { $0 }
            let unread = Self.unreadBytes()
            let bytes = open.reduce(0) { sum, entry in
                sum + Self.unsent(entry.key) + (unread[entry.value] ?? 0)
            }
            counts.update { $0.inFlight += bytes }
        }

        /// The bytes that the system has not delivered.
        static func unsent(_ raw: CInt) -> Int {
            var count: CInt = 0
            // SIOCOUTQ, which is TIOCOUTQ.
            return unsafe ioctl(raw, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
        }

        /// The port of the other end.
        private static func peerPort(_ raw: CInt) -> UInt16 {
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            _ = unsafe address.withSocketAddress { unsafe getpeername(raw, $0, &length) }
            return UInt16(bigEndian: address.sin_port)
        }

        /// The bytes that wait in the connections of this machine, by the local port (proc(5), /proc/net/tcp).
        private static func unreadBytes() -> [UInt16: Int] {
            guard let file = unsafe fopen("/proc/net/tcp", "r") else { return [:] }
            defer { unsafe fclose(file) }
            var found: [UInt16: Int] = [:]
            var line = [CChar](repeating: 0, count: 512)
            while unsafe fgets(&line, CInt(line.count), file) != nil {
                let text = String(
                    decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                let words = text.split(separator: " ")
                guard words.count > 4, let port = UInt16(words[1].suffix(4), radix: 16),
                    let queue = words[4].split(separator: ":").last.flatMap({ Int($0, radix: 16) })
                else { continue }
                found[port, default: 0] += queue
            }
            return found
        }

        static func makeReset(_ raw: CInt) {
            var option = linger(l_onoff: 1, l_linger: 0)
            let size = socklen_t(MemoryLayout<linger>.size)
            _ = unsafe setsockopt(raw, SOL_SOCKET, SO_LINGER, &option, size)
        }
    }
}

/// One connection over a link, on its own thread.
private final class LinkConnection {
    private static let size = 256 << 10
    /// The events after which a read does not wait.
    private static let readable = Int16(POLLIN | POLLHUP | POLLERR)

    private let client: CInt
    private let upstream: CInt
    private let core: LinkProxy.Core
    private let life: Int
    private var up: ArraySlice<UInt8> = []
    private var down: ArraySlice<UInt8> = []
    /// The request whose content passes; `nil` before its head is complete.
    private var request: Head?
    private var head: [UInt8] = []
    private var isInResponse = false

    /// The parts of a request's head that the proxy reads.
    private struct Head {
        /// The offset of the next byte of the content; `nil` if it has none.
        var offset: Int?
        var part: String?
        var isKnown = false
        var isDeletion = false
    }

    init(_ client: CInt, _ upstream: CInt, _ core: LinkProxy.Core) {
        self.client = client
        self.upstream = upstream
        self.core = core
        life = core.life.load(ordering: .relaxed)
    }

    func run() {
        while step() {}
        if core.life.load(ordering: .relaxed) != life {
            let unsent = LinkProxy.Core.unsent(client)
            core.counts.update { $0.inFlight += unsent }
            LinkProxy.Core.makeReset(client)
            LinkProxy.Core.makeReset(upstream)
        }
    }

    /// Moves some bytes; false at the end.
    private func step() -> Bool {
        let isPaused = core.isPaused.load(ordering: .relaxed)
        func events(_ own: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Int16 {
            guard !isPaused else { return 0 }
            return Int16((own.isEmpty ? POLLIN : 0) | (other.isEmpty ? 0 : POLLOUT))
        }
        var polls = [
            pollfd(fd: core.stopping.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: isPaused ? -1 : client, events: events(up, down), revents: 0),
            pollfd(fd: isPaused ? -1 : upstream, events: events(down, up), revents: 0),
        ]
        guard unsafe poll(&polls, nfds_t(polls.count), 10) >= 0 || errno == EINTR else { return false }
        if polls[0].revents != 0 || core.life.load(ordering: .relaxed) != life { return false }
        if polls[1].revents != 0 {
            if up.isEmpty, polls[1].revents & Self.readable != 0 {
                guard let bytes = Self.read(client) else { return false }
                take(request: bytes)
                up = bytes[...]
            }
            guard deliver() else { return false }
        }
        if polls[2].revents != 0 {
            if down.isEmpty, polls[2].revents & Self.readable != 0 {
                guard let bytes = Self.read(upstream) else { return finish() }
                take(response: bytes)
                down = bytes[...]
            }
            guard Self.write(&up, to: upstream) else { return false }
        }
        return Self.write(&up, to: upstream) && deliver()
    }

    /// Hands over what fits to the client; false if the connection is broken.
    private func deliver() -> Bool {
        let before = down.count
        let isOpen = Self.write(&down, to: client)
        let count = before - down.count
        if count > 0 { core.count { $0.downloaded += count } }
        return isOpen
    }

    /// Delivers the rest of a response whose server has closed the connection.
    private func finish() -> Bool {
        while !down.isEmpty {
            var polls = [
                pollfd(fd: client, events: Int16(POLLOUT), revents: 0),
                pollfd(fd: core.stopping.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            guard unsafe poll(&polls, nfds_t(polls.count), -1) >= 0, polls[1].revents == 0,
                deliver()
            else { break }
        }
        return false
    }

    // MARK: - HTTP

    private static let end: [UInt8] = [13, 10, 13, 10]

    private func take(request bytes: [UInt8]) {
        if isInResponse {
            isInResponse = false
            request = nil
            head = []
        }
        guard request == nil else { return count(content: bytes.count) }
        head += bytes
        guard let end = Self.find(Self.end, in: head) else { return }
        let text = String(decoding: head[..<end], as: UTF8.self)
        let target = text.split(separator: " ", maxSplits: 2).dropFirst().first ?? ""
        let isUpload = ["PATCH ", "POST ", "PUT "].contains { text.hasPrefix($0) }
        var request = Head(offset: isUpload ? Self.number("upload-offset", in: text) ?? 0 : nil)
        if let part = target.split(separator: "?").last?.split(separator: "&").first(where: {
            $0.hasPrefix("partNumber=")
        }) {
            let name = String(part)
            request.part = name
            request.isKnown = core.counts.contents.parts.contains(name)
        }
        request.isDeletion = text.hasPrefix("DELETE ")
        self.request = request
        count(content: head.count - end - 4)
    }

    private func count(content count: Int) {
        guard count > 0, let offset = request?.offset else { return }
        let (part, isKnown) = (request?.part, request?.isKnown == true)
        core.count { counts in
            counts.uploaded += count
            if part != nil {
                if isKnown { counts.repeated += count }
            } else {
                counts.repeated += max(0, min(count, counts.confirmed - offset))
            }
        }
        request?.offset = offset + count
    }

    private func take(response bytes: [UInt8]) {
        guard !isInResponse else { return }
        let text = String(decoding: bytes.prefix(4096), as: UTF8.self)
        if let offset = Self.number("upload-offset", in: text) {
            core.counts.update { $0.confirmed = max($0.confirmed, offset) }
        }
        // An informational response is followed by more of the request.
        guard !text.hasPrefix("HTTP/1.1 1") else { return }
        isInResponse = true
        if request?.isDeletion == true { core.counts.update { $0.deletions += 1 } }
        if let part = request?.part, text.hasPrefix("HTTP/1.1 200") {
            core.counts.update { _ = $0.parts.insert(part) }
        }
    }

    private static func number(_ name: String, in head: String) -> Int? {
        for line in head.split(separator: "\r\n") where line.lowercased().hasPrefix(name + ":") {
            return Int(line.dropFirst(name.count + 1).drop { $0 == " " })
        }
        return nil
    }

    private static func find(_ pattern: [UInt8], in bytes: [UInt8]) -> Int? {
        guard bytes.count >= pattern.count else { return nil }
        return (0...(bytes.count - pattern.count)).first {
            bytes[$0..<($0 + pattern.count)].elementsEqual(pattern)
        }
    }

    // MARK: - Sockets

    /// The bytes that are there; `nil` at the end.
    private static func read(_ raw: CInt) -> [UInt8]? {
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(0, unsafe recv(raw, buffer.baseAddress, buffer.count, 0))
        }
        return bytes.isEmpty ? nil : bytes
    }

    /// Writes what fits; false if the connection is broken.
    private static func write(_ bytes: inout ArraySlice<UInt8>, to raw: CInt) -> Bool {
        #if canImport(Glibc)
        let flags = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)
        #else
        let flags = MSG_DONTWAIT
        #endif
        guard !bytes.isEmpty else { return true }
        let count = unsafe bytes.withUnsafeBytes { unsafe systemSend(raw, $0.baseAddress, $0.count, flags) }
        if count >= 0 {
            bytes = bytes.dropFirst(count)
            return true
        }
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR
    }
}
