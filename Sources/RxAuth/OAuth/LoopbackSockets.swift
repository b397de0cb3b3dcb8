#if Auth
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The calls of the system that a listener makes, which tests replace.
struct LoopbackSockets: Sendable {
    /// Opens a socket; negative with `errno` if that fails.
    var open: @Sendable (LoopbackHost) -> Int32 = { LoopbackSockets.opened($0) }
    /// Accepts a connection; negative with `errno` if that fails.
    var accept: @Sendable (_ listener: Int32) -> Int32 = { LoopbackSockets.accepted($0) }
    /// The wait after a failure for want of descriptors or memory, in milliseconds.
    var pause = 100

    static let system = LoopbackSockets()

    private static let backlog: Int32 = 16

    private static func opened(_ host: LoopbackHost) -> Int32 {
        #if canImport(Darwin)
        let descriptor = socket(host.family, SOCK_STREAM, 0)
        if descriptor >= 0 { prepare(descriptor) }
        #elseif canImport(Musl)
        let descriptor = socket(host.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)
        #else
        let descriptor = socket(
            host.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        #endif
        return descriptor
    }

    private static func accepted(_ listener: Int32) -> Int32 {
        #if canImport(Darwin)
        let descriptor = Darwin.accept(listener, nil, nil)
        #elseif canImport(Musl)
        let descriptor = Musl.accept(listener, nil, nil)
        #else
        // Swift's Glibc lacks accept4.
        let descriptor = Glibc.accept(listener, nil, nil)
        #endif
        if descriptor >= 0 { prepare(descriptor) }
        return descriptor
    }

    /// Programs that the app starts do not inherit the socket, and its calls do not wait.
    private static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    /// Lets a later login use the port, although this one leaves connections in TIME_WAIT.
    static func allowReuse(_ descriptor: Int32) {
        var on: Int32 = 1
        _ = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Whether the socket listens now; `errno` says why not.
    static func listen(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
        Darwin.listen(descriptor, backlog) == 0
        #elseif canImport(Musl)
        Musl.listen(descriptor, backlog) == 0
        #else
        Glibc.listen(descriptor, backlog) == 0
        #endif
    }
}

/// An address of the loopback.
enum LoopbackHost: Sendable {
    case ipv4, ipv6

    /// The host as URLs have it.
    var text: String {
        switch self {
        case .ipv4: "127.0.0.1"
        case .ipv6: "[::1]"
        }
    }

    var family: Int32 {
        switch self {
        case .ipv4: AF_INET
        case .ipv6: AF_INET6
        }
    }

    /// Binds a socket.
    ///
    /// - Parameter port: the port; 0 for any free one.
    /// - Returns: the port; `nil` with `errno` if that fails.
    func bind(_ descriptor: Int32, to port: UInt16) -> UInt16? {
        switch self {
        case .ipv4:
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            guard Self.bind(descriptor, &address) else { return nil }
            return UInt16(bigEndian: address.sin_port)
        case .ipv6:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = in6addr_loopback
            guard Self.bind(descriptor, &address) else { return nil }
            return UInt16(bigEndian: address.sin6_port)
        }
    }

    /// Binds a socket to an address of its family, and replaces that by the one that the socket has then.
    private static func bind<Address>(_ descriptor: Int32, _ address: inout Address) -> Bool {
        var length = socklen_t(MemoryLayout<Address>.size)
        return unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe systemBind(descriptor, pointer, length) == 0
                    && getsockname(descriptor, pointer, &length) == 0
            }
        }
    }
}

/// `bind`, whose name the type above has for itself.
private func systemBind(
    _ descriptor: Int32, _ address: UnsafeMutablePointer<sockaddr>, _ length: socklen_t
) -> Int32 { unsafe bind(descriptor, address, length) }
#endif
