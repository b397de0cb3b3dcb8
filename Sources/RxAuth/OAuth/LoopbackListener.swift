#if Auth
import RxHTTP
import RxLite
import RxLoop

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Listens on this machine for the redirect of one login (RFC 8252 §7.3).
///
/// The socket is there before the login begins, and is gone after the response has been answered, or when the
/// subscription ends. Requests that are no response to the login are answered and do not end it, so that no other page in
/// the browser can.
struct LoopbackListener: Sendable {
    enum Event: Sendable, Equatable {
        /// The redirect URL, once the socket accepts connections.
        case listening(String)
        /// The code of the response, and the redirect URL.
        case code(String, String)
    }

    /// The response to the login, or `nil` if it belongs to another one.
    typealias Judge = @Sendable (AuthorizationResponse) -> Result<String, NetworkError>?

    private let port: UInt16
    private let path: String
    private let address: OAuth.Redirect.LoopbackAddress
    private let loop: EventLoop
    private let sockets: LoopbackSockets
    private let judge: Judge

    init(
        port: UInt16, path: String, at address: OAuth.Redirect.LoopbackAddress = .automatic,
        on loop: EventLoop, sockets: LoopbackSockets = .system, judge: @escaping Judge
    ) {
        self.port = port
        self.path = path
        self.address = address
        self.loop = loop
        self.sockets = sockets
        self.judge = judge
    }

    /// The events of one login, on the loop.
    var events: Observable<Event, NetworkError> {
        .create { emitter in
            let server = LoopbackServer(path: path, on: loop, sockets: sockets, judge, into: emitter)
            guard loop.post({ server.start(port: port, at: address) }) else {
                return emitter.fail(
                    NetworkError(
                        .oauthLoopback, "the redirect cannot be received: the event loop does not run"))
            }
            // After the end of the loop, its hook has closed the sockets.
            emitter.onClose { _ = loop.post { server.close() } }
        }
    }
}

/// One listening socket and its connections.
private final class LoopbackServer: @unchecked Sendable {
    // Unchecked: everything is touched on the loop only, which is asserted where events arrive.
    private let path: String
    private let loop: EventLoop
    private let sockets: LoopbackSockets
    private let judge: LoopbackListener.Judge
    private let emitter: Emitter<LoopbackListener.Event, NetworkError>
    private var descriptor: Int32 = -1
    private var url = ""
    private var poll: Poll?
    /// Ends the wait of ``LoopbackSockets/pause`` after a failure.
    private var pauseTimer: LoopTimer?
    private var hook: (any Cancellable)?
    private var connections: [Int32: LoopbackConnection] = [:]

    /// The most connections at a time; a browser opens a few ahead. More wait in the queue of the socket.
    private static let connectionLimit = 16

    init(
        path: String, on loop: EventLoop, sockets: LoopbackSockets, _ judge: @escaping LoopbackListener.Judge,
        into emitter: Emitter<LoopbackListener.Event, NetworkError>
    ) {
        self.path = path
        self.loop = loop
        self.sockets = sockets
        self.judge = judge
        self.emitter = emitter
    }

    func start(port: UInt16, at address: OAuth.Redirect.LoopbackAddress) {
        loop.assertCurrent()
        guard !emitter.isCancelled else { return }
        guard path.hasPrefix("/"), path.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            !path.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") })
        else {
            return emitter.fail(
                NetworkError(
                    .invalidConfiguration,
                    "the path of a redirect begins with a slash and has no query and no fragment"))
        }
        do throws(NetworkError) {
            url = try listen(at: port, address) + path
        } catch {
            close()
            return emitter.fail(error)
        }
        hook = loop.onShutdown { self.close() }
        emitter.send(.listening(url))
    }

    /// - Returns: the URL of the listener, without a path.
    private func listen(
        at port: UInt16, _ address: OAuth.Redirect.LoopbackAddress
    ) throws(NetworkError) -> String {
        switch address {
        case .ipv4: return "http://\(LoopbackHost.ipv4.text):\(try bind(to: .ipv4, port))"
        case .ipv6: return "http://\(LoopbackHost.ipv6.text):\(try bind(to: .ipv6, port))"
        case .automatic:
            do throws(NetworkError) {
                return try listen(at: port, .ipv4)
            } catch {
                // "use whichever is available" (RFC 8252 §7.3).
                guard [EAFNOSUPPORT, EADDRNOTAVAIL].contains(Int32(error.systemError ?? 0)) else {
                    throw error
                }
                if descriptor >= 0 { closeDescriptor(descriptor) }
                descriptor = -1
                return try listen(at: port, .ipv6)
            }
        }
    }

    /// - Returns: the port.
    private func bind(to host: LoopbackHost, _ port: UInt16) throws(NetworkError) -> UInt16 {
        descriptor = sockets.open(host)
        guard descriptor >= 0 else { throw .oauthLoopback(host, port, errno) }
        if port != 0 { LoopbackSockets.allowReuse(descriptor) }
        guard let bound = host.bind(descriptor, to: port) else { throw .oauthLoopback(host, port, errno) }
        // Only after the kernel has chosen a port: otherwise it might choose one that is used in the same way.
        if port == 0 { LoopbackSockets.allowReuse(descriptor) }
        guard LoopbackSockets.listen(descriptor) else { throw .oauthLoopback(host, port, errno) }
        do throws(UVError) {
            poll = try Poll(on: loop, descriptor: descriptor) { [weak self] _, error in
                self?.accept(after: error)
            }
        } catch { throw .oauthLoopback(host, port, -error.rawValue) }
        pauseTimer = LoopTimer(on: loop) { [weak self] in self?.watch() }
        watch()
        return bound
    }

    private func watch() { poll?.start(.readable) }

    private func accept(after error: UVError?) {
        loop.assertCurrent()
        guard error == nil else { return wait() }
        while descriptor >= 0 {
            guard connections.count < Self.connectionLimit else {
                // Watched again when a connection ends.
                poll?.stop()
                return
            }
            let connection = sockets.accept(descriptor)
            guard connection < 0 else {
                add(connection)
                continue
            }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EAGAIN: return
            default:
                // The connection stays in the queue, and the socket readable: without a wait, this would be a busy loop.
                return wait()
            }
        }
    }

    private func wait() {
        poll?.stop()
        pauseTimer?.start(milliseconds: sockets.pause)
    }

    private func add(_ connection: Int32) {
        let reader = LoopbackConnection(connection, on: loop) { [weak self] request in
            self?.receive(request, from: connection)
        }
        guard let reader else { return }
        connections[connection] = reader
    }

    /// Answers a request; `nil` for a connection that has ended without one.
    private func receive(_ request: LoopbackRequest?, from connection: Int32) {
        loop.assertCurrent()
        guard let reader = connections[connection] else { return }
        let outcome = request.map { answer(to: $0) }
        if let page = outcome?.page { reader.send(page) }
        reader.close()
        connections[connection] = nil
        switch outcome?.result {
        case .success(let code):
            let url = url
            close()
            emitter.send(.code(code, url))
            emitter.finish()
        case .failure(let error):
            close()
            emitter.fail(error)
        case nil: watch()
        }
    }

    private func answer(
        to request: LoopbackRequest
    ) -> (page: LoopbackPage, result: Result<String, NetworkError>?) {
        guard case .get(let target) = request else { return (.malformed, nil) }
        let mark = target.utf8.firstIndex(of: UInt8(ascii: "?"))
        guard String(target[..<(mark ?? target.endIndex)]).hasSameBytes(as: path) else {
            return (.missing, nil)
        }
        let query = mark.map { target[target.utf8.index(after: $0)...] } ?? ""
        guard let response = AuthorizationResponse(query: query) else { return (.malformed, nil) }
        guard let result = judge(response) else { return (.stranger, nil) }
        switch result {
        case .success: return (.accepted, result)
        case .failure: return (.refused, result)
        }
    }

    func close() {
        guard descriptor >= 0 || poll != nil else { return }
        loop.assertCurrent()
        hook?.cancel()
        hook = nil
        pauseTimer?.close()
        pauseTimer = nil
        poll?.close()
        poll = nil
        for connection in connections.values { connection.close() }
        connections = [:]
        if descriptor >= 0 { closeDescriptor(descriptor) }
        descriptor = -1
    }
}

/// One connection: reads the head of a request, and answers it.
private final class LoopbackConnection {
    private let descriptor: Int32
    private var poll: Poll?
    private var limit: LoopTimer?
    private var parser = LoopbackRequest.Parser()
    private let onRequest: (LoopbackRequest?) -> Void

    /// The longest that a request may take, in milliseconds.
    private static let patience = 10_000

    /// - Parameter onRequest: called once, with the request, or with `nil` if the connection ends without one.
    init?(_ descriptor: Int32, on loop: EventLoop, onRequest: @escaping (LoopbackRequest?) -> Void) {
        self.descriptor = descriptor
        self.onRequest = onRequest
        do throws(UVError) {
            let poll = try Poll(on: loop, descriptor: descriptor) { [weak self] _, _ in self?.read() }
            self.poll = poll
            poll.start(.readable)
        } catch {
            closeDescriptor(descriptor)
            return nil
        }
        let limit = LoopTimer(on: loop) { onRequest(nil) }
        limit.start(milliseconds: Self.patience)
        self.limit = limit
    }

    private func read() {
        var part = [UInt8](repeating: 0, count: 4096)
        while poll != nil {
            let count = unsafe recv(descriptor, &part, part.count, 0)
            if count > 0 {
                guard let request = parser.append(part[..<count]) else { continue }
                return onRequest(request)
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return }
            return onRequest(nil)
        }
    }

    /// Sends a page, which is smaller than the buffer of a new connection: nothing waits for the rest of a larger one.
    func send(_ page: LoopbackPage) {
        let bytes = page.bytes
        #if canImport(Darwin)
        let flags: Int32 = 0
        #else
        let flags = Int32(MSG_NOSIGNAL)
        #endif
        _ = Self.sendBytes(descriptor, bytes, bytes.count, flags)
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    private static func sendBytes(_ descriptor: Int32, _ bytes: [UInt8], _ count: Int, _ flags: Int32) -> Int
    {
        #if canImport(Darwin)
        unsafe Darwin.send(descriptor, bytes, count, flags)
        #elseif canImport(Musl)
        unsafe Musl.send(descriptor, bytes, count, flags)
        #else
        unsafe Glibc.send(descriptor, bytes, count, flags)
        #endif
    }

    func close() {
        guard let poll else { return }
        self.poll = nil
        poll.close()
        limit?.close()
        limit = nil
        closeDescriptor(descriptor)
    }
}

/// `close`, whose name the classes above have for themselves.
private func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }

extension NetworkError {
    fileprivate static func oauthLoopback(
        _ host: LoopbackHost, _ port: UInt16, _ code: Int32
    ) -> NetworkError {
        let message =
            switch code {
            case EADDRINUSE:
                "port \(port) of \(host.text) is taken; end the program that uses it, or register another port or any port "
                    + "for the client"
            case EACCES:
                "port \(port) of \(host.text) is not allowed to this user; register a port above 1023"
            case EMFILE, ENFILE:
                "the redirect cannot be received: no descriptor is left; close files or raise the limit"
            case EAFNOSUPPORT, EADDRNOTAVAIL:
                "the redirect cannot be received: this machine has no \(host.text); use another address of the loopback"
            default: "the redirect cannot be received at \(host.text)"
            }
        var error = NetworkError(.oauthLoopback, message)
        error.systemError = Int(code)
        return error
    }
}
#endif
