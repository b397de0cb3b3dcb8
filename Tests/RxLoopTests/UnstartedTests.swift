#if canImport(Glibc)
import Glibc
import RxLite
import RxLoop
import Synchronization
import Testing

/// A loop that cannot be created for lack of descriptors. Each test is a separate process, since the
/// limit is the process's; libuv's own pipe for signals, which it creates with the first loop, needs
/// descriptors, too.
@Suite(.timeLimit(.minutes(1))) struct UnstartedTests {
    @Test func isStartedOnceThereAreDescriptors() async {
        await #expect(processExitsWith: .success) {
            let limit = withoutDescriptors()
            let loop = EventLoop(name: "starved")
            #expect(loop.startError != nil)
            #expect(!loop.post {})
            #expect(loop.isCurrent)
            #expect(!loop.ownsCurrentThread)
            let runs = Mutex(0)
            loop.schedule { runs.withLock { $0 += 1 } }
            #expect(runs.withLock { $0 } == 1)
            let error = await #expect(throws: UVError.self) {
                _ = try await loop.work { () throws(UVError) in 1 }.value()
            }
            #expect(error == loop.startError)
            restoreDescriptors(limit)
            let isOnLoop = await withCheckedContinuation { continuation in
                loop.schedule { continuation.resume(returning: loop.ownsCurrentThread) }
            }
            #expect(isOnLoop)
            #expect(loop.startError == nil)
            loop.shutDown()
        }
    }

    @Test func canBeShutDown() async {
        await #expect(processExitsWith: .success) {
            let limit = withoutDescriptors()
            let loop = EventLoop(name: "starved")
            _ = loop.onShutdown { Issue.record("there is nothing to close") }
            loop.shutDown()
            restoreDescriptors(limit)
            #expect(!loop.post {})
            loop.shutDown()
        }
    }
}

/// Uses up all free descriptors of the process; returns the previous limit.
private func withoutDescriptors() -> rlimit {
    var limit = rlimit()
    unsafe _ = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    var none = limit
    none.rlim_cur = 3
    unsafe _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
    return limit
}

private func restoreDescriptors(_ limit: rlimit) {
    var limit = limit
    unsafe _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}
#endif
