import RxLoop
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

@Suite struct HandleTests {
    @Test func aPollReportsAndTheDescriptorCanBeWatchedAgainAtOnce() async throws {
        let loop = EventLoop(name: "poll")
        defer { loop.shutDown() }
        let (reading, writing) = try connectedSockets()
        let reports: [String] = await withCheckedContinuation { continuation in
            loop.schedule {
                let log = Log()
                log.poll = try? Poll(on: loop, descriptor: reading) { _, _ in log.lines.append("never") }
                log.poll?.start(.readable)
                log.poll?.close()
                log.poll = try? Poll(on: loop, descriptor: reading) { events, error in
                    log.lines.append("readable \(events.contains(.readable)) error \(error != nil)")
                    log.poll?.close()
                    log.poll = nil
                    continuation.resume(returning: log.lines)
                }
                log.poll?.start(.readable)
                unsafe _ = write(writing, "x", 1)
            }
        }
        #expect(reports == ["readable true error false"])
        close(reading)
        close(writing)
    }

    @Test func pollingWhatIsNoSocketIsATypedError() async {
        let loop = EventLoop(name: "bad")
        defer { loop.shutDown() }
        let error: UVError? = await withCheckedContinuation { continuation in
            loop.schedule {
                do throws(UVError) {
                    try Poll(on: loop, descriptor: 9999) { _, _ in }.close()
                    continuation.resume(returning: nil)
                } catch { continuation.resume(returning: error) }
            }
        }
        #expect(error == .badDescriptor)
        #expect(error?.description == "EBADF: bad file descriptor")
    }

    @Test func aTimerMovesForwardAndBackAndStops() async {
        let loop = EventLoop(name: "timer")
        defer { loop.shutDown() }
        let waits: [Duration] = await withCheckedContinuation { continuation in
            loop.schedule {
                let log = Log()
                let begin = loop.now
                log.timer = LoopTimer(on: loop) {
                    log.waits.append(loop.now - begin)
                    switch log.waits.count {
                    case 1:
                        log.timer?.start(milliseconds: 5)
                        log.timer?.stop()
                        log.timer?.start(milliseconds: 500)
                        log.timer?.start(milliseconds: 10)
                    default:
                        log.timer?.close()
                        log.timer = nil
                        continuation.resume(returning: log.waits)
                    }
                }
                log.timer?.start(milliseconds: 1)
                log.timer?.start(milliseconds: 15)
            }
        }
        #expect(waits.count == 2)
        #expect(waits[0] >= .milliseconds(15))
        #expect(waits[1] >= waits[0] + .milliseconds(10))
    }

    @Test func aKickComesOnceAndAgainWhenAskedFromItself() async {
        let loop = EventLoop(name: "immediate")
        defer { loop.shutDown() }
        let kicks: Int = await withCheckedContinuation { continuation in
            loop.schedule {
                let log = Log()
                log.immediate = try? Immediate(on: loop) {
                    log.kicks += 1
                    if log.kicks < 3 {
                        log.immediate?.request()
                    } else {
                        _ = loop.schedule(after: .milliseconds(5)) {
                            log.immediate?.close()
                            log.immediate = nil
                            continuation.resume(returning: log.kicks)
                        }
                    }
                }
                log.immediate?.request()
                log.immediate?.request()
            }
        }
        #expect(kicks == 3)
    }

    /// State shared by the callbacks of one test.
    private final class Log: @unchecked Sendable {
        // Unchecked: touched only on the test's loop.
        var lines: [String] = []
        var waits: [Duration] = []
        var kicks = 0
        var poll: Poll?
        var timer: LoopTimer?
        var immediate: Immediate?
    }
}

/// Two connected sockets with close-on-exec: the child process of an exit test that inherited one would keep its reader
/// waiting.
func connectedSockets() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    try #require(unsafe socketpair(AF_UNIX, type, 0, &ends) == 0)
    return (ends[0], ends[1])
}
