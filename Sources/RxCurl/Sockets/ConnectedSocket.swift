internal import CLibcurl

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The system calls on a connected socket.
struct ConnectedSocket {
    let descriptor: Int32

    /// The local port of the connection; 0 for a Unix socket.
    var localPort: Int {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isKnown = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            let address = unsafe bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return unsafe getsockname(descriptor, address, &size) == 0
        }
        guard isKnown else { return 0 }
        // In both families the port is the second member, in network byte order (sockaddr_in, sockaddr_in6).
        guard [AF_INET, AF_INET6].contains(Int32(storage.ss_family)) else { return 0 }
        return unsafe withUnsafeBytes(of: storage) { bytes in
            Int(unsafe UInt16(bigEndian: bytes.load(fromByteOffset: 2, as: UInt16.self)))
        }
    }

    /// Whether bytes wait to be read, or the connection has ended.
    var hasInput: Bool {
        var byte: UInt8 = 0
        let count = unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count >= 0 || errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR
    }

    /// Shuts down both directions of an idle connection on which bytes have arrived, so that libcurl treats
    /// it as dead (``LibcurlFault/reusesUncleanConnections``). Over TLS the bytes may have been a session
    /// ticket; the connection is lost anyway, because only reading would show this.
    func retire() {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
        // libcurl checks whether there are bytes to read. Later bytes are refused (RFC 1122 §4.2.2.13).
        var bytes: [UInt8] = Array(repeating: 0, count: 16 << 10)
        while unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
    }
}
