#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A listening socket on a loopback address, on an exclusive port.
struct Listener: ~Copyable, Sendable {
    let descriptor: Descriptor
    let port: UInt16

    /// - Parameters:
    ///   - host: the last byte of the address 127.0.0.x.
    ///   - port: a port that an earlier listener may have used; 0 lets the kernel choose.
    ///   - backlog: the maximum number of connections that wait to be accepted; `nil` for a socket that is
    ///     bound but does not listen.
    init(host: UInt8 = 1, port: UInt16 = 0, backlog: CInt? = 512) throws(SystemError) {
        let descriptor = try Descriptor.streamSocket()
        if port != 0 { try descriptor.allowReuse() }
        var address = sockaddr_in.loopback(host: host, port: port)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let raw = descriptor.raw
        let bound = unsafe address.withSocketAddress { unsafe bind(raw, $0, length) }
        guard bound == 0 else { throw SystemError("bind") }
        if let backlog {
            // Only after the kernel has chosen the port; otherwise it might give the port to two sockets.
            try descriptor.allowReuse()
            guard listen(raw, backlog) == 0 else { throw SystemError("listen") }
        }
        let named = unsafe address.withSocketAddress { unsafe getsockname(raw, $0, &length) }
        guard named == 0 else { throw SystemError("getsockname") }
        self.port = UInt16(bigEndian: address.sin_port)
        self.descriptor = descriptor
    }
}

extension Descriptor {
    static func streamSocket() throws(SystemError) -> Descriptor {
        #if canImport(Glibc)
        let type = CInt(SOCK_STREAM.rawValue)
        #else
        let type = SOCK_STREAM
        #endif
        let raw = withoutSpawning {
            let raw = socket(AF_INET, type, 0)
            if raw >= 0 { closeOnExec(raw) }
            return raw
        }
        return try Descriptor(checking: raw, of: "socket")
    }

    /// A datagram socket bound to a port of 127.0.0.x.
    static func datagramSocket(host: UInt8 = 1, port: UInt16) throws(SystemError) -> Descriptor {
        #if canImport(Glibc)
        let type = CInt(SOCK_DGRAM.rawValue)
        #else
        let type = SOCK_DGRAM
        #endif
        let raw = withoutSpawning {
            let raw = socket(AF_INET, type, 0)
            if raw >= 0 { closeOnExec(raw) }
            return raw
        }
        let descriptor = try Descriptor(checking: raw, of: "socket")
        var address = sockaddr_in.loopback(host: host, port: port)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard unsafe address.withSocketAddress({ unsafe bind(raw, $0, length) }) == 0 else {
            throw SystemError("bind")
        }
        return descriptor
    }

    /// Allows another socket to bind the port while connections of this one are in TIME_WAIT; both sockets
    /// need it.
    fileprivate borrowing func allowReuse() throws(SystemError) {
        var on: CInt = 1
        let size = socklen_t(MemoryLayout<CInt>.size)
        guard unsafe setsockopt(raw, SOL_SOCKET, SO_REUSEADDR, &on, size) == 0 else {
            throw SystemError("setsockopt")
        }
    }

    /// A blocking connection to a port of 127.0.0.1.
    static func connected(to port: UInt16) throws(SystemError) -> Descriptor {
        let descriptor = try streamSocket()
        var address = sockaddr_in.loopback(port: port)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let raw = descriptor.raw
        let result = unsafe address.withSocketAddress { unsafe connect(raw, $0, length) }
        guard result == 0 else { throw SystemError("connect") }
        return descriptor
    }
}

extension sockaddr_in {
    static func loopback(host: UInt8 = 1, port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = (0x7F00_0000 + UInt32(host)).bigEndian
        return address
    }

    mutating func withSocketAddress<Result>(
        _ body: (UnsafeMutablePointer<sockaddr>) -> Result
    ) -> Result {
        unsafe withUnsafeMutablePointer(to: &self) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0) }
        }
    }
}
