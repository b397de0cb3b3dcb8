import Foundation
import RxNetworking
import Synchronization

/// The environment of a recipe: its servers, its app, and its output.
final class Stage: Sendable {
    /// The base URL of the recipe's server.
    let baseURL: String
    /// The base URL of a second server with the same data.
    let standbyURL: String
    /// The transport of the clients that a recipe makes.
    let transport: any Transport
    /// The shop's app, shared by all recipes of a tour.
    let app: ShopApp
    /// The path of the tour's program, for recipes that start it again.
    let program: String
    /// Lines that are redrawn when they change.
    let panel = Panel()

    private let start = ContinuousClock.now
    private let problems = Mutex<[String]>([])

    init(
        baseURL: String, standbyURL: String, app: ShopApp, transport: any Transport = CurlTransport.shared,
        program: String = CommandLine.arguments[0]
    ) {
        self.program = program
        self.transport = transport
        self.baseURL = baseURL
        self.standbyURL = standbyURL
        self.app = app
    }

    /// Writes an event, with the time since the recipe began.
    func note(_ text: String) {
        let elapsed = (ContinuousClock.now - start) / .milliseconds(1)
        panel.write(above: wrapped(text, after: String(format: "  %7.1f ms  ", elapsed)))
    }

    /// Writes the result.
    func result(_ text: String) {
        panel.close()
        say(wrapped(text, after: "  => "))
    }

    /// Records a problem unless the condition holds.
    func expect(_ condition: Bool, _ promise: String) {
        if condition { return }
        problems.withLock { $0.append(promise) }
        panel.write(above: "  !! expectation failed: \(promise)")
    }

    /// The failed expectations.
    var broken: [String] { problems.withLock { $0 } }

    /// Runs a stream to its end and writes each event as it arrives.
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
            for try await value in noted { values.append(value) }
        } catch {
            return (values, error)
        }
        return (values, nil)
    }
}
