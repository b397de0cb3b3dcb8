import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A server on loopback that does what a script says, byte by byte, and records what it receives.
///
/// ```swift
/// let server = try RawServer([
///     [.readRequest, .reset],  // the first connection
///     [.readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .close],  // all others
/// ])
/// ```
///
/// Each connection is played on a thread of its own. Nothing in it sleeps: it waits for its sockets, for the
/// gates of the script, and for ``stop()``, which also comes with the last reference.
public final class RawServer: Sendable {
    /// Where the steps of a connection come from.
    enum Script: Sendable {
        case perConnection([[Step]])
        case perRequest(@Sendable (Request) -> [Step])
    }

    /// The port on 127.0.0.1, or on the address that was asked for.
    public let port: UInt16
    private let board = RecordBoard(Record())
    private let stopping: Gate
    private let accepting: Mutex<JoinableThread?>
    private let cursor = Mutex(0)

    /// A server that plays one script for each connection, in the order of their acceptance. The last one
    /// serves all further connections. A script that ends without closing ends with ``Step/close``.
    public convenience init(_ scripts: [[Step]]) throws(SystemError) {
        try self.init(.perConnection(scripts))
    }

    /// A server that reads requests as long as the client sends some, and plays for each what `respond` says.
    ///
    /// - Parameters:
    ///   - host: the last byte of its address, 127.0.0.x.
    ///   - port: the port that another server has had and left; 0 for one that the kernel chooses.
    public convenience init(
        host: UInt8 = 1, port: UInt16 = 0, respond: @escaping @Sendable (Request) -> [Step]
    ) throws(SystemError) {
        try self.init(.perRequest(respond), host: host, port: port)
    }

    private init(_ script: Script, host: UInt8 = 1, port requested: UInt16 = 0) throws(SystemError) {
        let listener = try Listener(host: host, port: requested)
        let (stopping, board) = (try Gate(), board)
        self.stopping = stopping
        port = listener.port
        let acceptor = Acceptor(listener, script: script, stopping: stopping, board: board)
        accepting = Mutex(try JoinableThread { acceptor.run() })
    }

    deinit { stop() }

    /// `http://127.0.0.1:port`, with no slash at the end.
    public var baseURL: String { "http://127.0.0.1:\(port)" }

    /// Closes everything and returns when the threads have ended. Those who wait fail.
    public func stop() {
        stopping.open()
        if let thread = accepting.withLock({ $0.take() }) { thread.join() }
        board.stop()
    }

    // What it has seen

    /// Everything so far.
    public var record: Record { board.contents }

    /// What `look` finds in the record, as soon as there is something. Throws when the server stops first or
    /// the task is cancelled. `look` must do nothing but look: it is called under a lock.
    public func until<Result: Sendable>(
        _ look: @escaping @Sendable (Record) -> Result?
    ) async throws -> Result {
        try await board.until(look)
    }

    /// The next request, each of them once, in the order of their arrival.
    public func nextRequest() async throws -> Request {
        let place = cursor.withLock { place in
            defer { place += 1 }
            return place
        }
        return try await until { $0.requests.indices.contains(place) ? $0.requests[place] : nil }
    }

    /// How that connection ended, once it has.
    public func connectionEnded(_ index: Int) async throws -> End {
        try await until { $0.connections.indices.contains(index) ? $0.connections[index].end : nil }
    }
}
