#if canImport(Glibc)
import Glibc

/// The kinds of namespaces of the system that a thread can create; this usually requires root.
public enum Namespace: CInt, Sendable {
    /// Mount points.
    case mounts = 0x0002_0000
    /// Interfaces, addresses and routes.
    case network = 0x4000_0000

    /// Moves the calling thread, and threads and processes that it starts from then on, into a new
    /// namespace (unshare(2), which Swift's Glibc lacks); false without the permission.
    public func enter() -> Bool {
        typealias Unshare = @convention(c) (CInt) -> CInt
        guard let symbol = unsafe dlsym(nil, "unshare") else { return false }
        return unsafe unsafeBitCast(symbol, to: Unshare.self)(rawValue) == 0
    }
}
#endif
