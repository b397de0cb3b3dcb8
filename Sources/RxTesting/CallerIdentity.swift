#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Who is calling: the task where there is one, since it may change threads, else the thread.
enum CallerIdentity: Hashable, Sendable {
    case task(Int)
    case thread(UInt)

    static var current: CallerIdentity {
        // The task is looked at during the call only; what is kept is a number.
        if let task = unsafe withUnsafeCurrentTask(body: { unsafe $0?.hashValue }) { return .task(task) }
        #if canImport(Darwin)
            return .thread(unsafe UInt(bitPattern: pthread_self()))
        #else
            return .thread(UInt(pthread_self()))
        #endif
    }
}
