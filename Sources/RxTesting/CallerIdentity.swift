#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Identifies the caller: by its task, which may change threads, otherwise by its thread.
enum CallerIdentity: Hashable, Sendable {
    case task(Int)
    case thread(UInt)

    static var current: CallerIdentity {
        // The task is used only during the call; only a number is kept.
        if let task = unsafe withUnsafeCurrentTask(body: { unsafe $0?.hashValue }) { return .task(task) }
        #if canImport(Darwin)
        return .thread(unsafe UInt(bitPattern: pthread_self()))
        #else
        return .thread(UInt(pthread_self()))
        #endif
    }
}
