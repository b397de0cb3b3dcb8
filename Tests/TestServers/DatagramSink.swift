#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A UDP socket on 127.0.0.1 that receives datagrams and never answers.
public struct DatagramSink: ~Copyable, Sendable {
    private let descriptor: Descriptor

    /// Binds the UDP port.
    public init(port: UInt16) throws(SystemError) {
        descriptor = try Descriptor.datagramSocket(port: port)
    }

    /// Returns the number of datagrams received since the last call.
    public borrowing func take() -> Int {
        var byte: UInt8 = 0
        var count = 0
        while unsafe recv(descriptor.raw, &byte, 1, CInt(MSG_DONTWAIT)) >= 0 { count += 1 }
        return count
    }
}
