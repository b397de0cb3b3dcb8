import RxTesting
import Synchronization

/// Answers in their order; the last one repeats.
final class Book: Sendable {
    private let answers: Mutex<[ScriptedTransport.Reply]>

    init(_ answers: [ScriptedTransport.Reply]) { self.answers = Mutex(answers) }

    func next() -> ScriptedTransport.Reply {
        answers.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? .stall }
    }
}
