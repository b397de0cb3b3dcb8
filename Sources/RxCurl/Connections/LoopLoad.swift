import RxHTTP
import Synchronization

/// Counts the requests and connections of each loop of a transport, so that a request goes to a loop with a
/// free connection to its origin. A transport with one loop does not need it.
///
/// All members are safe to call from any thread.
final class LoopLoad: Sendable {
    /// Counts a request on its loop until it is released.
    final class RequestCount: Sendable {
        private let load: LoopLoad
        private let index: Int
        private let origin: Origin?

        fileprivate init(_ load: LoopLoad, _ index: Int, _ origin: Origin?) {
            self.load = load
            self.index = index
            self.origin = origin
            load.update(index, origin) { $0.running += 1 }
        }

        deinit { load.update(index, origin) { $0.running -= 1 } }

        /// Counts the connection that was opened for the request.
        ///
        /// - Parameter isShared: whether the connection carries many requests at a time.
        func connection(isShared: Bool) -> ConnectionCount? {
            origin.map { ConnectionCount(load, index, $0, isShared: isShared) }
        }
    }

    /// Counts an open connection of its loop until it is released.
    final class ConnectionCount: Sendable {
        private let load: LoopLoad
        private let index: Int
        private let origin: Origin

        fileprivate init(_ load: LoopLoad, _ index: Int, _ origin: Origin, isShared: Bool) {
            self.load = load
            self.index = index
            self.origin = origin
            load.update(index, origin) {
                $0.open += 1
                $0.isShared = isShared
            }
        }

        deinit { load.update(index, origin) { $0.open -= 1 } }
    }

    /// The requests and connections to one origin on one loop.
    private struct Use {
        var running = 0
        var open = 0
        var isShared = false

        var hasFreeConnection: Bool { isShared ? open > 0 : open > running }
    }

    private struct State {
        /// For each loop.
        var running: [Int]
        var uses: [[Origin: Use]]
        /// Chooses between equal loops.
        var turn: UInt64 = 0
    }

    private let state: Mutex<State>

    init(loops count: Int) {
        state = Mutex(
            State(running: Array(repeating: 0, count: count), uses: Array(repeating: [:], count: count)))
    }

    /// Counts a request to `origin` on a loop.
    func enter(_ index: Int, _ origin: Origin?) -> RequestCount { RequestCount(self, index, origin) }

    /// The loop with a free connection to `origin`, else the one with the fewest requests; `nil` if no loop
    /// is open.
    func choose(for origin: Origin?, where isOpen: (Int) -> Bool) -> Int? {
        state.withLock { state in
            // Pseudo-random, so that callers with a regular pattern do not always get the same loop.
            state.turn = state.turn &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let count = state.running.count
            let first = Int(state.turn >> 33) % count
            var best: (index: Int, isFree: Bool)?
            for index in (first..<first + count).map({ $0 % count }) where isOpen(index) {
                let isFree = origin.flatMap { state.uses[index][$0] }?.hasFreeConnection ?? false
                if let best, best.isFree != isFree {
                    if best.isFree { continue }
                } else if let best, state.running[best.index] <= state.running[index] {
                    continue
                }
                best = (index, isFree)
            }
            return best?.index
        }
    }

    private func update(_ index: Int, _ origin: Origin?, _ change: (inout Use) -> Void) {
        state.withLock { state in
            var use = origin.flatMap { state.uses[index][$0] } ?? Use()
            let before = use.running
            change(&use)
            state.running[index] += use.running - before
            guard let origin else { return }
            state.uses[index][origin] = use.running == 0 && use.open == 0 ? nil : use
        }
    }
}
