#if canImport(Glibc)
import Glibc
import RxLoop
import TestServers
import Testing

/// Files of the system, replaced for one loop.
enum MountedFile {
    /// Whether this process may mount, which usually requires root.
    static func isPossible() async throws -> Bool {
        try await ChildProcess("/usr/bin/env", ["unshare", "-m", "true"]).ended().ending == .exited(0)
    }

    /// Makes the loop's thread, and the threads that curl starts from it, use `file` in place of `target`.
    static func mount(_ file: String, over target: String, on loop: EventLoop) async throws {
        let mounting = try await withCheckedThrowingContinuation { continuation in
            loop.schedule {
                continuation.resume(
                    with: Result {
                        #expect(Namespace.mounts.enter())
                        let script = "mount --make-rprivate / && mount --bind \"$0\" \"$1\""
                        return try ChildProcess("/usr/bin/env", ["sh", "-c", script, file, target])
                    })
            }
        }
        #expect(try await mounting.ended().ending == .exited(0))
    }
}
#endif
