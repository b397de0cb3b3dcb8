// A release build sees the system's sockets through curl's headers.
import CLibcurl
public import RxHTTP
public import RxLite
public import RxLoop

#if canImport(Glibc)
import Glibc
#endif

/// The network status of a Linux machine, or of the network namespace of the loop's thread.
///
/// ```swift
/// let reachability = NetlinkReachability()
/// reachability.start()
/// configuration.reachability = reachability
/// ```
///
/// If the socket's buffer overflows, the kernel drops messages; then the whole state is read again.
///
/// The kernel reports changes on a `NETLINK_ROUTE` socket (rtnetlink(7)); the current state is read from the
/// interfaces. An interface counts if it is up and running, is not a loopback, and has an address that is
/// valid beyond its link. Hardware takes precedence over virtual interfaces, and a cable over Wi-Fi over a
/// mobile network. If there is no such socket, as on other systems, the status remains `unknown`.
///
/// Watching continues until ``stop()`` or the end of the loop, even after the last reference is released.
/// Safe to use from any thread.
public final class NetlinkReachability: Reachability, @unchecked Sendable {
    // Unchecked: `watch` is touched only on the loop, which is asserted.
    private let loop: EventLoop
    private let shown = MutableProperty(NetworkStatus.unknown)
    private var watch: Watch?

    private struct Watch {
        let poll: Poll
        let descriptor: Int32
        let hook: any Cancellable
    }

    /// Creates an instance that has not been started.
    ///
    /// - Parameter loop: the loop that it runs on. Default: the process-wide loop.
    public init(on loop: EventLoop = .shared) { self.loop = loop }

    /// The current status; `unknown` until the loop has read it for the first time.
    public var status: NetworkStatus { shown.value }

    /// The current status, then each different one. Arrives on the loop.
    public var statuses: Observable<NetworkStatus, Never> { shown.observable.distinctUntilChanged() }

    /// Begins to watch.
    public func start() { _ = loop.post { self.startWatching() } }

    /// Stops watching.
    public func stop() {
        _ = loop.post {
            self.stopWatching()
            self.shown.value = .unknown
        }
    }

    #if canImport(Glibc)
    private func startWatching() {
        loop.assertCurrent()
        guard watch == nil, let descriptor = Self.openSocket() else { return }
        do throws(UVError) {
            let poll = try Poll(on: loop, descriptor: descriptor) { _, error in self.report(error) }
            // The hook closes the poll before the loop ends, and thereby breaks the reference cycle
            // between poll and watcher.
            let hook = loop.onShutdown { self.stopWatching() }
            watch = Watch(poll: poll, descriptor: descriptor, hook: hook)
            poll.start(.readable)
        } catch {
            close(descriptor)
            return
        }
        look()
    }

    private func stopWatching() {
        loop.assertCurrent()
        guard let watch else { return }
        self.watch = nil
        watch.hook.cancel()
        watch.poll.close()
        close(watch.descriptor)
    }

    /// Reads the kernel's messages, which only indicate that something has changed, and then reads the
    /// current state.
    private func report(_ error: UVError?) {
        guard let watch else { return }
        let isWhole = Self.drain(watch.descriptor)
        // libuv stops the poll after an error of the socket. Reading clears ENOBUFS, which means lost
        // messages, and the whole state is read anyway (netlink(7)).
        if isWhole, error != nil { watch.poll.start(.readable) }
        guard !isWhole else { return look() }
        stopWatching()
        startWatching()
    }

    private func look() { shown.value = NetworkInterface.all().status }

    /// Reads the socket until it is empty; false if it is no longer usable.
    private static func drain(_ descriptor: Int32) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 8192)
        while true {
            if unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)) > 0 { continue }
            switch errno {
            case EAGAIN: return true
            case ENOBUFS, EINTR: continue
            default: return false
            }
        }
    }

    private static func openSocket() -> Int32? {
        let kind = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_NETLINK, kind, RouteAddress.protocolNumber)
        guard descriptor >= 0 else { return nil }
        var address = RouteAddress()
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(descriptor, pointer, socklen_t(MemoryLayout<RouteAddress>.size))
            }
        }
        guard status == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
    #else
    private func startWatching() {}
    private func stopWatching() {}
    #endif
}

#if canImport(Glibc)
/// `struct sockaddr_nl` (linux/netlink.h), which Swift's Glibc lacks: the fields of a stable interface, in its order.
private struct RouteAddress {
    /// `NETLINK_ROUTE`.
    static let protocolNumber: Int32 = 0

    var family = sa_family_t(AF_NETLINK)
    var padding: UInt16 = 0
    /// 0: the kernel chooses.
    var port: UInt32 = 0
    /// `RTMGRP_LINK`, `RTMGRP_IPV4_IFADDR` and `RTMGRP_IPV6_IFADDR` (linux/rtnetlink.h).
    var groups: UInt32 = 0x1 | 0x10 | 0x100
}
#endif

/// A network interface that can carry requests.
struct NetworkInterface: Hashable {
    var name: String
    var isHardware = false
    var isWireless = false

    var status: NetworkStatus {
        if isWireless { return .wifi }
        let isMobile = ["wwan", "wwp", "ppp", "rmnet", "ccmni"].contains { name.hasPrefix($0) }
        return isMobile ? .cellular : .wired
    }
}

extension Collection<NetworkInterface> {
    /// The kind of connection of a machine with these interfaces.
    var status: NetworkStatus {
        let hardware = filter(\.isHardware)
        let counted = hardware.isEmpty ? Array(self) : hardware
        return [.wired, .wifi, .cellular].first { status in counted.contains { $0.status == status } }
            ?? .unreachable
    }
}

#if canImport(Glibc)
extension NetworkInterface {
    /// The interfaces that are up, running, not a loopback, and have an address that is valid beyond
    /// their link (getifaddrs(3)), in the network namespace of the calling thread.
    static func all() -> Set<NetworkInterface> {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&first) == 0 else { return [] }
        defer { unsafe freeifaddrs(first) }
        var interfaces: Set<NetworkInterface> = []
        var next = unsafe first
        // The list belongs to this function until it is freed; names in it are NUL-terminated.
        while let entry = unsafe next?.pointee {
            unsafe next = entry.ifa_next
            let wanted = UInt32(IFF_UP | IFF_RUNNING)
            let flags = unsafe entry.ifa_flags & (wanted | UInt32(IFF_LOOPBACK))
            guard flags == wanted, let address = unsafe entry.ifa_addr, unsafe leadsFurther(address)
            else {
                continue
            }
            let name = unsafe String(cString: entry.ifa_name)
            interfaces.insert(
                NetworkInterface(
                    name: name, isHardware: hasEntry(name, "device"),
                    isWireless: hasEntry(name, "wireless") || hasEntry(name, "phy80211")))
        }
        return interfaces
    }

    /// Whether the address is an IP address outside of 169.254/16 (RFC 3927) and fe80::/10 (RFC 4291
    /// §2.5.6).
    private static func leadsFurther(_ address: UnsafeMutablePointer<sockaddr>) -> Bool {
        switch Int32(unsafe address.pointee.sa_family) {
        case AF_INET:
            let host = unsafe UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self).sin_addr
                .s_addr
            return UInt32(bigEndian: host) >> 16 != 0xA9FE
        case AF_INET6:
            let host = unsafe UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self).sin6_addr
            let start = unsafe withUnsafeBytes(of: host) { bytes in unsafe (bytes[0], bytes[1]) }
            return !(start.0 == 0xFE && start.1 & 0xC0 == 0x80)
        default:
            return false
        }
    }

    private static func hasEntry(_ name: String, _ entry: String) -> Bool {
        unsafe access("/sys/class/net/\(name)/\(entry)", F_OK) == 0
    }
}
#endif
