import Synchronization

/// Counts its living instances. An object held by a stream's closure lives as long as the stream.
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

    /// A use, so that the closure holds it.
    func touch() {}
}
