#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Accepts connections and serves each on a separate thread, until the server stops.
final class ConnectionAcceptor: Sendable {
    private let listener: Listener
    private let stopping: Gate
    private let serve: @Sendable (CInt) -> Void

    /// - Parameter serve: serves one accepted connection, which is closed when it returns.
    init(_ listener: consuming Listener, stopping: Gate, serve: @escaping @Sendable (CInt) -> Void) {
        self.listener = listener
        self.stopping = stopping
        self.serve = serve
    }

    func run() {
        var threads: [JoinableThread] = []
        while ProxySession.wait(for: [listener.descriptor.raw], or: stopping) {
            threads.removeAll { thread in
                guard thread.isFinished else { return false }
                thread.join()
                return true
            }
            let client = withoutSpawning {
                let raw = accept(listener.descriptor.raw, nil, nil)
                if raw >= 0 { closeOnExec(raw) }
                return raw
            }
            guard client >= 0 else { continue }
            do {
                threads.append(
                    try JoinableThread { [serve] in
                        serve(client)
                        close(client)
                    })
            } catch { close(client) }
        }
        for thread in threads { thread.join() }
    }
}
