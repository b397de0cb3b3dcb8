import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A server on loopback that handles each request while its body still arrives.
final class StreamingServer: Sendable {
    /// One request with its connection, on that connection's thread.
    final class Exchange {
        /// The request, without its body.
        let head: RawServer.Request
        private let connection: Connection

        fileprivate init(_ head: RawServer.Request, _ connection: Connection) {
            self.head = head
            self.connection = connection
        }

        /// Passes on the body as it arrives.
        func readBody(_ take: ([UInt8]) throws(RawServer.End) -> Void) throws(RawServer.End) {
            try connection.readBody(of: head, take)
        }

        /// Sends a status line and fields, for informational responses without an end of their own.
        func interim(_ status: Int, _ fields: [(String, String)]) throws(RawServer.End) {
            try connection.send(Self.head(status, fields))
        }

        /// Sends a complete response.
        func respond(
            _ status: Int, _ fields: [(String, String)] = [], _ body: [UInt8] = []
        ) throws(RawServer.End) {
            let hasLength = status != 204 && head.method != "HEAD"
            let length = hasLength ? [("Content-Length", "\(body.count)")] : []
            try connection.send(Self.head(status, fields + length) + (head.method == "HEAD" ? [] : body))
        }

        /// Ends the connection: with a reset, which may overtake what was sent, or so that all of it arrives.
        func cut(isReset: Bool = true) -> RawServer.End {
            connection.isReset = isReset
            return isReset ? .script : connection.drain()
        }

        /// Reads nothing more until the client has left.
        func hold() -> RawServer.End { connection.hold() }

        private static func head(_ status: Int, _ fields: [(String, String)]) -> [UInt8] {
            let lines = ["HTTP/1.1 \(status) Status"] + fields.map { "\($0): \($1)" } + ["", ""]
            return Array(lines.joined(separator: "\r\n").utf8)
        }
    }

    fileprivate final class Connection {
        private let socket: ConnectionSocket
        private var reader = RequestReader()
        private let number: Int
        var isReset = false

        init(_ socket: consuming ConnectionSocket, _ number: Int) {
            self.socket = socket
            self.number = number
        }

        func run(_ handle: (Exchange) throws(RawServer.End) -> Void) {
            var index = 0
            do throws(RawServer.End) {
                while true {
                    let head = try reader.readHead(from: socket, connection: number, index: index)
                    try handle(Exchange(head, self))
                    index += 1
                }
            } catch {
                if isReset { Self.makeReset(socket.descriptor.raw) }
            }
        }

        func readBody(
            of head: RawServer.Request, _ take: ([UInt8]) throws(RawServer.End) -> Void
        ) throws(RawServer.End) { try reader.readPieces(of: head, from: socket, take) }

        func send(_ bytes: [UInt8]) throws(RawServer.End) {
            try socket.send(bytes, stalled: {}, progress: { _ in })
        }

        func hold() -> RawServer.End {
            do throws(RawServer.End) { try socket.waitForHangUp() } catch { return error }
            return .clientClosed
        }

        /// Sends the end, and reads until the client has left: a close with unread bytes would be a reset.
        func drain() -> RawServer.End {
            socket.endSending()
            do throws(RawServer.End) {
                while true { _ = try socket.receive() }
            } catch { return error }
        }

        private static func makeReset(_ raw: CInt) {
            var option = linger(l_onoff: 1, l_linger: 0)
            let size = socklen_t(MemoryLayout<linger>.size)
            _ = unsafe setsockopt(raw, SOL_SOCKET, SO_LINGER, &option, size)
        }
    }

    let port: UInt16
    private let stopping: Gate
    private let accepting: Mutex<JoinableThread?>

    /// - Parameter handle: handles one request; what it throws ends the connection.
    init(handle: @escaping @Sendable (Exchange) throws(RawServer.End) -> Void) throws(SystemError) {
        let listener = try Listener()
        let stopping = try Gate()
        self.stopping = stopping
        port = listener.port
        let counter = Counter()
        let acceptor = ConnectionAcceptor(listener, stopping: stopping) { client in
            // The acceptor closes its own descriptor.
            let raw = fcntl(client, F_DUPFD_CLOEXEC, 0)
            guard raw >= 0 else { return }
            let socket = ConnectionSocket(Descriptor(raw), stop: stopping)
            Connection(socket, counter.next()).run(handle)
        }
        accepting = Mutex(try JoinableThread { acceptor.run() })
    }

    deinit { stop() }

    func stop() {
        stopping.open()
        if let thread = accepting.withLock({ $0.take() }) { thread.join() }
    }

    private final class Counter: Sendable {
        private let count = Atomic(0)

        func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
    }
}
