#if DiskCache
import Synchronization

/// Events in order, from any thread.
final class Log: Sendable {
    private let contents = Mutex<[Int]>([])

    func add(_ value: Int) { contents.withLock { $0.append(value) } }

    var values: [Int] { contents.withLock { $0 } }
}
#endif
