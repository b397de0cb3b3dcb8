#if canImport(Glibc)
    import Glibc

    /// What a thread can have to itself of the system: with the right to it, which mostly means as root.
    public enum Namespace: CInt, Sendable {
        /// What is mounted where.
        case mounts = 0x0002_0000
        /// Interfaces, addresses, routes.
        case network = 0x4000_0000

        /// Puts the calling thread, and threads and processes that it starts from then on, into one of its own
        /// (unshare(2), which Swift's Glibc does not have); false without the right to.
        public func enter() -> Bool {
            typealias Unshare = @convention(c) (CInt) -> CInt
            guard let symbol = unsafe dlsym(nil, "unshare") else { return false }
            return unsafe unsafeBitCast(symbol, to: Unshare.self)(rawValue) == 0
        }
    }
#endif
