import Synchronization

/// A proxy on loopback: HTTP with CONNECT and absolute URLs (RFC 9110 §9.3.6, RFC 9112 §3.2.2), SOCKS 5
/// (RFC 1928, RFC 1929), or SOCKS 4 with 4a (https://www.openssh.com/txt/socks4.protocol, socks4a.protocol).
///
/// It connects to 127.0.0.1 at the requested port, regardless of the requested host, so a test can use names
/// that do not exist to show where they are resolved.
public final class ProxyServer: Sendable {
    /// The protocol of the proxy.
    public enum Kind: Sendable {
        /// HTTP.
        case http
        /// SOCKS 5.
        case socks5
        /// SOCKS 4 and 4a.
        case socks4
    }

    /// A request to the proxy.
    public struct Request: Sendable, Equatable {
        /// `CONNECT`, another method, or `SOCKS`.
        public let method: String
        /// The host and port, or the absolute URL.
        public let target: String
        /// `user:password` for SOCKS 5, the user for SOCKS 4, the value of `Proxy-Authorization` for HTTP;
        /// empty if there was none.
        public let credential: String

        /// Creates a request for comparison.
        public init(method: String, target: String, credential: String) {
            self.method = method
            self.target = target
            self.credential = credential
        }
    }

    /// The port on 127.0.0.1.
    public let port: UInt16
    private let stopping: Gate
    private let board = Board<[Request]>([])
    private let accepting: Mutex<JoinableThread?>

    /// Starts a proxy.
    ///
    /// - Parameters:
    ///   - kind: the protocol of the proxy.
    ///   - credential: the required credential, in the format of ``Request/credential``; `nil` for none.
    ///   - refusesTunnels: whether it answers CONNECT with 403.
    public init(
        _ kind: Kind, credential: String? = nil, refusesTunnels: Bool = false
    ) throws(SystemError) {
        let listener = try Listener()
        let (stopping, board) = (try Gate(), board)
        self.stopping = stopping
        port = listener.port
        let loop = ConnectionAcceptor(listener, stopping: stopping) { client in
            let session = ProxySession(
                client: client, stop: stopping, credential: credential, refusesTunnels: refusesTunnels,
                record: { request in board.update { $0.append(request) } })
            switch kind {
            case .http: session.serveHTTP()
            case .socks5: session.serveSOCKS()
            case .socks4: session.serveSOCKS4()
            }
        }
        accepting = Mutex(try JoinableThread { loop.run() })
    }

    deinit { stop() }

    /// Closes all connections and returns when the threads have ended.
    public func stop() {
        stopping.open()
        if let thread = accepting.withLock({ $0.take() }) { thread.join() }
        board.stop()
    }

    /// The requests so far, one for each connection.
    public var requests: [Request] { board.contents }
}
