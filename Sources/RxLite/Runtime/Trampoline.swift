#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Keeps subscriptions that start within each other from using up the stack of their thread.
///
/// A stream that begins again at its own end does so inside `subscribe` if the end has come by then, and then again
/// inside that. Up to ``depthLimit`` such calls nest; a deeper one waits until the outermost is about to return, which
/// makes it in a loop. Each thread has one.
@usableFromInline
final class Trampoline {
    // As the documentation of `subscribe(onNext:onFailure:onFinish:fileID:line:)` and Lanes.md say.
    private static var depthLimit: Int { 16 }

    // Without exclusivity checks: used by one thread, and nothing is called while a variable is being changed.
    @safe @exclusivity(unchecked) private var depth = 0
    @safe @exclusivity(unchecked) private var waiting = FIFO<Callback>()

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let code = unsafe pthread_key_create(&key) { raw in
            let raw: UnsafeMutableRawPointer? = unsafe raw
            // Guard: the key's only value is the one retained in `current`.
            if let raw = unsafe raw { unsafe Unmanaged<Trampoline>.fromOpaque(raw).release() }
        }
        precondition(code == 0, "no thread-local storage is left (PTHREAD_KEYS_MAX)")
        return key
    }()

    /// The trampoline of this thread.
    @usableFromInline static var current: Trampoline {
        if let raw = unsafe pthread_getspecific(key) {
            // Guard: the value is retained until the thread ends.
            return unsafe Unmanaged<Trampoline>.fromOpaque(raw).takeUnretainedValue()
        }
        let trampoline = Trampoline()
        unsafe pthread_setspecific(key, Unmanaged.passRetained(trampoline).toOpaque())
        return trampoline
    }

    /// Begins a call that may lead to another of its kind. `false` if it has to go through ``append(_:)`` because
    /// calls are nested too deep. After `true`, the caller must call ``leave()``.
    @usableFromInline
    func enter() -> Bool {
        guard depth < Self.depthLimit else { return false }
        depth += 1
        return true
    }

    /// Has the outermost call run `work`.
    @usableFromInline
    func append(_ work: @escaping @Sendable () -> Void) { waiting.append(Callback(call: work)) }

    /// Ends a call. The outermost one first runs what waits.
    @usableFromInline
    func leave() {
        if depth == 1 {
            // Before the depth is 0, so that what the work starts is nested in this call.
            while let work = waiting.popFirst() { work.call() }
        }
        depth -= 1
    }
}
