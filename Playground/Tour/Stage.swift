import Foundation
import RxNetworking
import Synchronization

/// Where a recipe runs: the server it may use, and the paper it writes on.
final class Stage: Sendable {
    /// Where the recipe's server is.
    let baseURL: String

    private let start = ContinuousClock.now
    private let problems = Mutex<[String]>([])

    init(baseURL: String) {
        self.baseURL = baseURL
    }

    /// Writes what has just happened, with the time since the recipe began.
    func note(_ text: String) {
        let elapsed = (ContinuousClock.now - start) / .milliseconds(1)
        say(String(format: "  %7.1f ms  ", elapsed) + text)
    }

    /// Writes what came out.
    func result(_ text: String) { say("  => \(text)") }

    /// Holds the recipe to what it promises.
    func expect(_ condition: Bool, _ promise: String) {
        if condition { return }
        problems.withLock { $0.append(promise) }
        say("  !! not so: \(promise)")
    }

    /// What was promised and did not hold.
    var broken: [String] { problems.withLock { $0 } }

    /// Runs a stream to its end and notes each event as it comes.
    func play<Element, Failure>(
        _ stream: Observable<Element, Failure>,
        describing describe: @escaping @Sendable (Element) -> String = { "\($0)" }
    ) async -> (values: [Element], error: Failure?) {
        let noted = stream.handleEvents(
            onNext: { self.note("next    \(describe($0))") },
            onEnd: { completion in
                switch completion {
                case .finished: self.note("end")
                case .failed(let error): self.note("failure \(error)")
                }
            })
        var values: [Element] = []
        do throws(Failure) {
            for try await value in noted.values(buffering: .unbounded) { values.append(value) }
        } catch {
            return (values, error)
        }
        return (values, nil)
    }
}
