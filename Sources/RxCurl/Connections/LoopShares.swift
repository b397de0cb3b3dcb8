internal import RxHTTP
import Synchronization

/// What each of a transport's loops has to do, and where it has connections, so that a request goes where one to its
/// origin is free. A transport with one loop has no need of it.
///
/// Threads: everything from anywhere.
final class LoopShares: Sendable {
    /// A request's place in what its loop has to do, as long as it lives.
    final class Share: Sendable {
        private let shares: LoopShares
        private let index: Int
        private let origin: Origin?

        fileprivate init(_ shares: LoopShares, _ index: Int, _ origin: Origin?) {
            self.shares = shares
            self.index = index
            self.origin = origin
            shares.update(index, origin) { $0.running += 1 }
        }

        deinit { shares.update(index, origin) { $0.running -= 1 } }

        /// Counts the connection that the request was made on.
        ///
        /// - Parameter isShared: whether many requests may be on it at a time.
        func connection(isShared: Bool) -> Connection? {
            origin.map { Connection(shares, index, $0, isShared: isShared) }
        }
    }

    /// An open connection, as long as it lives.
    final class Connection: Sendable {
        private let shares: LoopShares
        private let index: Int
        private let origin: Origin

        fileprivate init(_ shares: LoopShares, _ index: Int, _ origin: Origin, isShared: Bool) {
            self.shares = shares
            self.index = index
            self.origin = origin
            shares.update(index, origin) {
                $0.open += 1
                $0.isShared = isShared
            }
        }

        deinit { shares.update(index, origin) { $0.open -= 1 } }
    }

    /// What there is of one origin on one loop.
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
        /// Decides between equals.
        var turn: UInt64 = 0
    }

    private let state: Mutex<State>

    init(loops count: Int) {
        state = Mutex(
            State(running: Array(repeating: 0, count: count), uses: Array(repeating: [:], count: count)))
    }

    /// Counts a request to `origin` on a loop.
    func enter(_ index: Int, _ origin: Origin?) -> Share { Share(self, index, origin) }

    /// The loop with a free connection to `origin`, else the one with the fewest requests; `nil` if none is open.
    func choose(for origin: Origin?, where isOpen: (Int) -> Bool) -> Int? {
        state.withLock { state in
            // As good as random, for callers that ask in a rhythm.
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
