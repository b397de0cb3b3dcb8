import RxTesting
import Synchronization

/// Answers in their order; the last one repeats.
final class Book: Sendable {
    private let answers: Mutex<[ScriptedTransport.Answer]>

    init(_ answers: [ScriptedTransport.Answer]) { self.answers = Mutex(answers) }

    func next() -> ScriptedTransport.Answer {
        answers.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? .stall }
    }
}
