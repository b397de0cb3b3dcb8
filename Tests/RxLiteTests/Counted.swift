import Synchronization

/// The number of living instances of ``Counted``.
final class LiveCount: Sendable {
    fileprivate let count = Atomic<Int>(0)
    fileprivate let most = Atomic<Int>(0)
    var alive: Int { count.load(ordering: .relaxed) }
    /// The maximum number that lived at one time.
    var peak: Int { most.load(ordering: .relaxed) }
}

/// Counts its living instances.
final class Counted: Sendable {
    private let count: LiveCount

    init(_ count: LiveCount) {
        self.count = count
        let alive = count.count.add(1, ordering: .relaxed).newValue
        _ = count.most.max(alive, ordering: .relaxed)
    }

    deinit { _ = count.count.subtract(1, ordering: .relaxed) }
}
