// A release build sees the system's sockets through curl's headers.
internal import CLibcurl
import RxHTTP

#if canImport(Glibc)
internal import Glibc
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
