import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A server on loopback that follows a script exactly, and records the bytes that it receives.
///
/// ```swift
/// let server = try RawServer([
///     [.readRequest, .reset],  // the first connection
///     [.readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .close],  // all others
/// ])
/// ```
///
/// Each connection runs on a separate thread. There are no sleeps: a connection waits for its sockets, for
/// the gates of the script, and for ``stop()``, which is also called when the last reference is released.
public final class RawServer: Sendable {
    /// The source of the steps of a connection.
    enum Script: Sendable {
        case perConnection([[Step]])
        case perRequest(@Sendable (Request) -> [Step])
    }

    /// The port on 127.0.0.1, or on the requested address.
    public let port: UInt16
    private let board = RecordBoard(Record())
    private let stopping: Gate
    private let accepting: Mutex<JoinableThread?>
    private let cursor = Mutex(0)

    /// Creates a server that runs one script for each connection, in the order of acceptance. The last script
    /// is used for all further connections. A script that ends without closing ends with ``Step/close``.
    public convenience init(_ scripts: [[Step]]) throws(SystemError) {
        try self.init(.perConnection(scripts))
    }

    /// Creates a server that reads requests as long as the client sends any, and runs the steps of `respond`
    /// for each.
    ///
    /// - Parameters:
    ///   - host: the last byte of the address, 127.0.0.x.
    ///   - port: a port that another server has used and released; 0 lets the kernel choose.
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

    /// `http://127.0.0.1:port`, without a trailing slash.
    public var baseURL: String { "http://127.0.0.1:\(port)" }

    /// Closes all connections and returns when the threads have ended. Current waits fail.
    public func stop() {
        stopping.open()
        if let thread = accepting.withLock({ $0.take() }) { thread.join() }
        board.stop()
    }

    // The record

    /// Everything observed so far.
    public var record: Record { board.contents }

    /// Returns the result of `look` on the record as soon as it is not `nil`. Throws if the server is stopped
    /// first or the task is cancelled. `look` must not have side effects: it is called under a lock.
    public func until<Result: Sendable>(
        _ look: @escaping @Sendable (Record) -> Result?
    ) async throws -> Result {
        try await board.until(look)
    }

    /// Returns the next request, each one once, in the order of arrival.
    public func nextRequest() async throws -> Request {
        let place = cursor.withLock { place in
            defer { place += 1 }
            return place
        }
        return try await until { $0.requests.indices.contains(place) ? $0.requests[place] : nil }
    }

    /// Returns how this connection ended, once it has.
    public func connectionEnded(_ index: Int) async throws -> End {
        try await until { $0.connections.indices.contains(index) ? $0.connections[index].end : nil }
    }
}
