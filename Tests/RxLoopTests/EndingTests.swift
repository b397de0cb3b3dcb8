import RxLite
import RxLoop
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Handles that are opened while a loop ends are closed with it: `shutDown()` traps otherwise.
@Suite(.timeLimit(.minutes(1))) struct EndingTests {
    enum Place: CaseIterable {
        case hook, hookOfAHook, workOfAHook, earlyTimer
    }

    /// Their owners are not notified of the end any more.
    @Test(arguments: Place.allCases)
    func handlesOpenedWhileTheLoopEnds(place: Place) throws {
        let loop = EventLoop(name: "ending")
        let handles = Handles()
        let open: @Sendable () -> Void = { handles.open(on: loop) }
        switch place {
        case .hook: _ = loop.onShutdown(open)
        case .hookOfAHook: _ = loop.onShutdown { _ = loop.onShutdown(open) }
        case .workOfAHook: _ = loop.onShutdown { loop.schedule(open) }
        case .earlyTimer: _ = loop.schedule(after: .seconds(3600), open)
        }
        loop.shutDown()
        #expect(handles.isOpened)
        // Closing handles that the loop has closed is allowed, from anywhere.
        handles.close()
    }

    @Test func aHookThatAHookRegistersRunsToo() {
        let loop = EventLoop(name: "hooks")
        let order = Mutex<[Int]>([])
        _ = loop.onShutdown {
            order.withLock { $0.append(1) }
            _ = loop.onShutdown {
                order.withLock { $0.append(2) }
                _ = loop.onShutdown { order.withLock { $0.append(3) } }
            }
        }
        loop.shutDown()
        #expect(order.withLock { $0 } == [1, 2, 3])
    }

    @Test func hooksThatRegisterHooksDoNotKeepTheLoopFromEnding() {
        let loop = EventLoop(name: "hooks without end")
        @Sendable func again() { _ = loop.onShutdown(again) }
        again()
        loop.shutDown()
    }

    @Test func aHookThatOpensAndOneThatCloses() {
        let loop = EventLoop(name: "both")
        let handles = Handles()
        _ = loop.onShutdown {
            handles.open(on: loop)
            _ = loop.onShutdown { handles.close() }
        }
        loop.shutDown()
        #expect(handles.isOpened)
    }

    private final class Handles: @unchecked Sendable {
        // Unchecked: touched on the loop, and once that has ended by the test.
        private var poll: Poll?
        private var immediate: Immediate?
        private var timer: LoopTimer?
        private var ends: [Int32] = []

        var isOpened: Bool { poll != nil && immediate != nil && timer != nil }

        func open(on loop: EventLoop) {
            guard let pair = try? connectedSockets() else { return }
            ends = [pair.reading, pair.writing]
            poll = try? Poll(on: loop, descriptor: ends[0]) { _, _ in Issue.record("nothing is there") }
            poll?.start(.readable)
            immediate = try? Immediate(on: loop) { Issue.record("the loop has ended") }
            immediate?.request()
            timer = LoopTimer(on: loop) {}
            timer?.start(milliseconds: 3_600_000)
        }

        func close() {
            poll?.close()
            immediate?.close()
            timer?.close()
        }

        deinit { for end in ends { shut(end) } }
    }
}

private func shut(_ descriptor: Int32) { close(descriptor) }
