#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Serves the faults on 127.0.0.1 in one thread, until its standard input ends. It keeps no state of the
/// requests it has served, so that it can serve any number of them.
struct FaultServer: ~Copyable {
    private struct Connection {
        var input: [UInt8] = []
        var output: ArraySlice<UInt8> = []
        var ending = Fault.Ending.keep
    }

    private let listener: CInt
    private let replies: [String: (bytes: [UInt8], ending: Fault.Ending)]
    private var connections: [CInt: Connection] = [:]
    let port: UInt16

    init() throws(SystemError) {
        #if canImport(Glibc)
        let type = CInt(SOCK_STREAM.rawValue)
        #else
        let type = SOCK_STREAM
        #endif
        listener = socket(AF_INET, type, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let raw = listener
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(raw, pointer, length) == 0 && listen(raw, 1024) == 0
                    && getsockname(raw, pointer, &length) == 0
            }
        }
        guard isListening else { throw SystemError(errno) }
        Self.makeNonblocking(listener)
        port = UInt16(bigEndian: address.sin_port)
        replies = Dictionary(uniqueKeysWithValues: Fault.all.map { ($0.path, ($0.reply, $0.ending)) })
    }

    mutating func run() throws(SystemError) {
        while true {
            var polls = [
                pollfd(fd: 0, events: Int16(POLLIN), revents: 0),
                pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
            ]
            for (descriptor, connection) in connections {
                let events = connection.output.isEmpty ? POLLIN : POLLOUT
                polls.append(pollfd(fd: descriptor, events: Int16(events), revents: 0))
            }
            guard unsafe poll(&polls, nfds_t(polls.count), -1) >= 0 || errno == EINTR else {
                throw SystemError(errno)
            }
            if polls[0].revents != 0 { return }
            for poll in polls.dropFirst(2) where poll.revents != 0 { serve(poll.fd) }
            if polls[1].revents != 0 { accept() }
        }
    }

    private mutating func accept() {
        while case let descriptor = Self.systemAccept(listener), descriptor >= 0 {
            Self.makeNonblocking(descriptor)
            var on: CInt = 1
            let size = socklen_t(MemoryLayout<CInt>.size)
            _ = unsafe setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &on, size)
            connections[descriptor] = Connection()
        }
    }

    private mutating func serve(_ descriptor: CInt) {
        guard var connection = connections.removeValue(forKey: descriptor) else { return }
        if connection.output.isEmpty {
            var buffer = [UInt8](repeating: 0, count: 16 << 10)
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            if count <= 0, errno != EAGAIN || count == 0 { return end(descriptor, .close) }
            // Input after the last request is dropped.
            if count > 0, connection.ending == .keep { connection.input += buffer.prefix(count) }
        }
        repeat {
            guard Self.send(&connection.output, descriptor) else { return end(descriptor, .close) }
            guard connection.output.isEmpty else { break }
            switch connection.ending {
            case .keep, .stall: break
            case .close, .reset: return end(descriptor, connection.ending)
            }
        } while connection.ending == .keep && answer(&connection)
        connections[descriptor] = connection
    }

    /// Takes the next request, if it is complete, and appends the response to the output.
    private func answer(_ connection: inout Connection) -> Bool {
        guard let end = connection.input.firstRange(of: Array("\r\n\r\n".utf8)) else { return false }
        let head = String(decoding: connection.input[..<end.lowerBound], as: UTF8.self)
        let lines = head.split(separator: "\r\n")
        let length = lines.first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst(15).drop { $0 == " " }) }
        let count = end.upperBound + (length ?? 0)
        guard connection.input.count >= count else { return false }
        connection.input.removeFirst(count)
        let words = lines[0].split(separator: " ")
        let reply = words.count == 3 ? replies[String(words[1])] : nil
        connection.output =
            (reply?.bytes ?? Array("HTTP/1.1 400 What\r\nContent-Length: 0\r\n\r\n".utf8))[...]
        connection.ending = reply?.ending ?? .keep
        return true
    }

    /// Writes as much as the socket accepts; false if it is broken.
    private static func send(_ output: inout ArraySlice<UInt8>, _ descriptor: CInt) -> Bool {
        while !output.isEmpty {
            #if canImport(Glibc)
            let flags = CInt(MSG_NOSIGNAL)
            #else
            let flags: CInt = 0
            #endif
            let count = unsafe output.withUnsafeBytes { unsafe systemSend(descriptor, $0, flags) }
            if count > 0 {
                output = output.dropFirst(count)
            } else {
                return errno == EAGAIN || errno == EINTR
            }
        }
        return true
    }

    private mutating func end(_ descriptor: CInt, _ ending: Fault.Ending) {
        connections[descriptor] = nil
        if case .reset = ending {
            var option = linger(l_onoff: 1, l_linger: 0)
            _ = unsafe setsockopt(
                descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        close(descriptor)
    }

    private static func makeNonblocking(_ descriptor: CInt) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    /// `accept(2)`, under another name because of the method of that name.
    private static func systemAccept(_ listener: CInt) -> CInt {
        #if canImport(Glibc)
        Glibc.accept(listener, nil, nil)
        #else
        Darwin.accept(listener, nil, nil)
        #endif
    }
}

private func systemSend(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer, _ flags: CInt) -> Int {
    unsafe send(descriptor, bytes.baseAddress, bytes.count, flags)
}

/// A system call that failed.
struct SystemError: Error {
    let code: CInt

    init(_ code: CInt) { self.code = code }
}
