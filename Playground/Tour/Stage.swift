import Foundation
import RxNetworking
import Synchronization

/// Where a recipe runs: the server it may use, the app it is a screen of, and the paper it writes on.
final class Stage: Sendable {
    /// Where the recipe's server is.
    let baseURL: String
    /// Where another is that knows the same.
    let standbyURL: String
    /// The shop's app, the same for all recipes of a tour.
    let app: ShopApp
    /// Lines that are drawn anew as they change.
    let panel = Panel()

    private let start = ContinuousClock.now
    private let problems = Mutex<[String]>([])

    init(baseURL: String, standbyURL: String, app: ShopApp) {
        self.baseURL = baseURL
        self.standbyURL = standbyURL
        self.app = app
    }

    /// Writes what has just happened, with the time since the recipe began.
    func note(_ text: String) {
        let elapsed = (ContinuousClock.now - start) / .milliseconds(1)
        panel.write(above: String(format: "  %7.1f ms  ", elapsed) + text)
    }

    /// Writes what came out.
    func result(_ text: String) {
        panel.close()
        say("  => \(text)")
    }

    /// Holds the recipe to what it promises.
    func expect(_ condition: Bool, _ promise: String) {
        if condition { return }
        problems.withLock { $0.append(promise) }
        panel.write(above: "  !! not so: \(promise)")
    }

    /// The one value of a stream that must have one.
    func value<Element>(of stream: Observable<Element, NetworkError>) async throws -> Element {
        guard let value = try await stream.first() else { throw NoValue() }
        return value
    }

    private struct NoValue: Error {}

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
