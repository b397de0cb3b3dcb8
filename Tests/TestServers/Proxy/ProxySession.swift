#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// One connection to a ``ProxyServer``, on a separate thread.
struct ProxySession {
    let client: CInt
    let stop: Gate
    let credential: String?
    let refusesTunnels: Bool
    let record: (ProxyServer.Request) -> Void

    // MARK: - HTTP

    func serveHTTP() {
        guard let head = readHead(), let line = head.split(separator: "\r\n").first else { return }
        let words = line.split(separator: " ")
        guard words.count == 3 else { return }
        let shown = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("proxy-authorization:") }
        let given = shown.map { $0.drop { $0 != ":" }.dropFirst().drop { $0 == " " } } ?? ""
        let (method, target) = (String(words[0]), String(words[1]))
        record(.init(method: method, target: target, credential: String(given)))
        if let credential, given != credential {
            return send(
                "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n")
        }
        if method == "CONNECT" {
            guard !refusesTunnels, let upstream = connect(port: target.split(separator: ":").last) else {
                return send("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")
            }
            send("HTTP/1.1 200 Connected\r\n\r\n")
            relay(to: upstream)
        } else {
            // Servers must accept the absolute form (RFC 9112 §3.2.2), so the request is forwarded unchanged.
            let authority = target.split(separator: "/").dropFirst().first
            guard let upstream = connect(port: authority?.split(separator: ":").last) else { return }
            send(head, to: upstream.raw)
            relay(to: upstream)
        }
    }

    private func readHead() -> String? {
        var bytes: [UInt8] = []
        while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard let next = read(1) else { return nil }
            bytes += next
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: - SOCKS

    func serveSOCKS() {
        guard let greeting = read(2), let methods = read(Int(greeting[1])) else { return }
        var given = ""
        if credential != nil {
            guard methods.contains(2) else { return send([5, 0xFF]) }
            send([5, 2])
            guard let start = read(2), let user = read(Int(start[1])), let size = read(1),
                let password = read(Int(size[0]))
            else { return }
            given = String(decoding: user + [UInt8(ascii: ":")] + password, as: UTF8.self)
            send([1, given == credential ? 0 : 1])
        } else {
            send([5, 0])
        }
        guard let request = read(4), let host = readHost(kind: request[3]), let port = read(2) else { return }
        let number = UInt16(port[0]) << 8 | UInt16(port[1])
        record(.init(method: "SOCKS", target: "\(host):\(number)", credential: given))
        guard credential == nil || given == credential, let upstream = try? Descriptor.connected(to: number)
        else { return send([5, 1, 0, 1, 0, 0, 0, 0, 0, 0]) }
        send([5, 0, 0, 1, 127, 0, 0, 1, port[0], port[1]])
        relay(to: upstream)
    }

    func serveSOCKS4() {
        guard let request = read(8), request[0] == 4, request[1] == 1, let user = readText() else { return }
        let address = request[4...]
        // 0.0.0.x means that a name follows the user (4a).
        let isName = address.starts(with: [0, 0, 0]) && address.last != 0
        guard let host = isName ? readText() : address.map(String.init).joined(separator: ".") else { return }
        let number = UInt16(request[2]) << 8 | UInt16(request[3])
        record(.init(method: "SOCKS4", target: "\(host):\(number)", credential: user))
        guard credential == nil || user == credential, let upstream = try? Descriptor.connected(to: number)
        else { return send([0, 0x5B, 0, 0, 0, 0, 0, 0]) }
        send([0, 0x5A] + request[2..<8])
        relay(to: upstream)
    }

    /// Reads up to a zero byte.
    private func readText() -> String? {
        var bytes: [UInt8] = []
        while let next = read(1) {
            if next == [0] { return String(decoding: bytes, as: UTF8.self) }
            bytes += next
        }
        return nil
    }

    private func readHost(kind: UInt8) -> String? {
        switch kind {
        case 1: read(4)?.map(String.init).joined(separator: ".")
        case 3: read(1).flatMap { read(Int($0[0])) }.map { String(decoding: $0, as: UTF8.self) }
        case 4: read(16).map { "\($0)" }
        default: nil
        }
    }

    // MARK: - Bytes

    private func connect(port: Substring?) -> Descriptor? {
        guard let port, let number = UInt16(port) else { return nil }
        return try? Descriptor.connected(to: number)
    }

    /// Reads exactly `count` bytes; `nil` at the end.
    private func read(_ count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard let part = receive(from: client, limit: count - bytes.count) else { return nil }
            bytes += part
        }
        return bytes
    }

    private func receive(from raw: CInt, limit: Int) -> [UInt8]? {
        guard Self.wait(for: [raw], or: stop) else { return nil }
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = unsafe recv(raw, &bytes, limit, 0)
        return count > 0 ? Array(bytes.prefix(count)) : nil
    }

    private func send(_ text: String) { send(Array(text.utf8)) }
    private func send(_ bytes: [UInt8]) { send(bytes, to: client) }
    private func send(_ text: String, to raw: CInt) { send(Array(text.utf8), to: raw) }

    @discardableResult
    private func send(_ bytes: [UInt8], to raw: CInt) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { buffer in
                unsafe systemWrite(raw, buffer.baseAddress, buffer.count)
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Forwards bytes in both directions until either side ends.
    private func relay(to upstream: borrowing Descriptor) {
        let pair = [client, upstream.raw]
        while Self.wait(for: pair, or: stop) {
            for (from, to) in [(0, 1), (1, 0)] where Self.isReadable(pair[from]) {
                guard let bytes = receive(from: pair[from], limit: 65_536), send(bytes, to: pair[to]) else {
                    return
                }
            }
        }
    }

    /// Waits until one of the sockets is readable; false if the server stops.
    static func wait(for sockets: [CInt], or stop: Gate) -> Bool {
        while true {
            var polls = ([stop.descriptor] + sockets).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            guard unsafe poll(&polls, nfds_t(polls.count), -1) >= 0 || errno == EINTR else { return false }
            if polls[0].revents != 0 { return false }
            if polls.dropFirst().contains(where: { $0.revents != 0 }) { return true }
        }
    }

    private static func isReadable(_ raw: CInt) -> Bool {
        var one = [pollfd(fd: raw, events: Int16(POLLIN), revents: 0)]
        return unsafe poll(&one, 1, 0) > 0
    }
}
