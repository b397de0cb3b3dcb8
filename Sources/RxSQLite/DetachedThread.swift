#if DiskCache || Fleet || Outbox
#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A thread for work that blocks, which neither an event loop nor the runtime's pool should wait for.
package enum DetachedThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs `body` on a new thread, which ends with it.
    ///
    /// - Returns: 0, or the error number of `pthread_create`; `body` does not run then.
    package static func start(_ body: @escaping @Sendable () -> Void) -> CInt {
        #if canImport(Glibc)
        var thread = pthread_t()
        #else
        var thread: pthread_t?
        #endif
        // The new thread takes over this retain; if it cannot be created, the retain is released here.
        let retained = unsafe Unmanaged.passRetained(Body(body))
        let code = unsafe pthread_create(
            &thread, nil,
            { argument in
                #if canImport(Glibc)
                guard let argument = unsafe argument else { return nil }
                #endif
                unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, retained.toOpaque())
        guard code == 0 else {
            unsafe retained.release()
            return code
        }
        #if canImport(Glibc)
        pthread_detach(thread)
        #else
        if let thread { pthread_detach(thread) }
        #endif
        return 0
    }
}
#endif
