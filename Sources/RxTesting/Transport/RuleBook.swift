import HTTPTypes
import RxHTTP
import Synchronization

/// The rules of a ``ScriptedTransport``, and how often each has responded.
final class RuleBook: Sendable {
    private let rules: [ScriptedTransport.Rule]
    private let counts: Mutex<[Int]>

    init(_ rules: [ScriptedTransport.Rule]) {
        self.rules = rules
        counts = Mutex(Array(repeating: 0, count: rules.count))
        RequiredRules.current?.add(self)
    }

    /// The required rules that have not responded, as text.
    var unused: [String] {
        zip(rules, counts.withLock { $0 }).filter { $0.0.isRequired && $0.1 == 0 }.map(\.0.text)
    }

    func reply(to request: Request) -> ScriptedTransport.Reply {
        guard let index = rules.firstIndex(where: { $0.matches(request) }) else {
            let asked = "\(request.method.rawValue) \(request.url.originAndPath)"
            return .failure(.unscripted, "no rule of the scripted transport matches \(asked)")
        }
        let turn = counts.withLock { counts in
            defer { counts[index] += 1 }
            return counts[index]
        }
        let replies = rules[index].replies
        return replies[min(turn, replies.count - 1)]
    }
}
