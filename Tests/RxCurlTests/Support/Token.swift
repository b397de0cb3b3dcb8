import Synchronization

/// Counts how many of its kind live. What a stream's closure holds lives as long as the stream.
final class Token: Sendable {
    final class Count: Sendable {
        private let living = Atomic(0)
        var value: Int { living.load(ordering: .sequentiallyConsistent) }
        fileprivate func add(_ number: Int) { living.add(number, ordering: .sequentiallyConsistent) }
    }

    private let count: Count

    init(_ count: Count) {
        self.count = count
        count.add(1)
    }

    deinit { count.add(-1) }

    /// Something to do with it, so that it is held.
    func touch() {}
}
