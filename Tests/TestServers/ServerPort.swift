import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Ports of 127.0.0.1 for servers that are started by their port number, such as programs of others.
///
/// A port that the kernel has chosen may, until such a server binds it, become the port of somebody's outgoing connection.
/// These lie below the range from which Linux (32768) and macOS (49152) choose.
public enum ServerPort {
    private static let ports: Range<UInt16> = 16_384..<32_768
    /// Another beginning in each process, and then one port after another.
    private static let next = Atomic(UInt16.random(in: 0..<UInt16(ports.count)))

    /// A port on which nothing listens; this process gets it once.
    public static func free() throws(SystemError) -> UInt16 {
        for _ in ports {
            let offset = next.wrappingAdd(1, ordering: .relaxed).oldValue % UInt16(ports.count)
            let port = ports.lowerBound + offset
            do throws(SystemError) { return try Listener(port: port).port } catch {
                guard error.code == EADDRINUSE else { throw error }
            }
        }
        throw SystemError("bind", code: EADDRINUSE)
    }
}
