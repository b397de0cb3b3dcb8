import Synchronization

/// The rules of all scripted transports that a test makes, for a test that requires them to be used. Thread-safe.
package final class RequiredRules: Sendable {
    /// Takes part in the running task and its children; `nil` where rules need not be used.
    @TaskLocal package static var current: RequiredRules?

    private let books = Mutex<[RuleBook]>([])

    package init() {}

    func add(_ book: RuleBook) { books.withLock { $0.append(book) } }

    /// The rules that no request has used, as text, in the order of their transports.
    package var unused: [String] { books.withLock { $0 }.flatMap(\.unused) }
}
