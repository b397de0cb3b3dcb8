import Foundation
import RxNetworking

/// `pages URL`: follows the Link headers of any JSON API and prints the items as JSON lines.
struct Pages {
    let url: String

    /// Prints items to standard output, progress and errors to standard error. Returns whether the end was reached.
    func run() async -> Bool {
        let client = Client(configuration: ClientConfiguration(), transport: CurlTransport.shared)
        let list = InlineEndpoint(
            .get, url, headers: ["Accept": "application/json", "User-Agent": "RxNetworking"])
        let pages = client.items(list, .link) { response throws(NetworkError) in
            Page(try Self.items(of: response))
        }
        var progress = Progress()
        do {
            for try await item in pages.values(buffering: .suspend(high: 256, low: 64)) {
                say(item)
                progress.add()
            }
        } catch {
            progress.end(", then an error: \(error)")
            return false
        }
        progress.end()
        return true
    }

    /// The elements of a top-level array, or of the only array in a top-level object, each as one line.
    private static func items(of response: Response) throws(NetworkError) -> [String] {
        do {
            let document = try JSONSerialization.jsonObject(
                with: Data(response.body), options: .fragmentsAllowed)
            let arrays = (document as? [String: Any])?.values.compactMap { $0 as? [Any] } ?? []
            guard let elements = document as? [Any] ?? (arrays.count == 1 ? arrays[0] : nil) else {
                throw NetworkError(
                    .decoding, "the body is neither a JSON array nor an object with exactly one array",
                    request: response.request)
            }
            return try elements.map { element in
                let line = try JSONSerialization.data(
                    withJSONObject: element,
                    options: [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes])
                return String(decoding: line, as: UTF8.self)
            }
        } catch let error as NetworkError {
            throw error
        } catch {
            let reason = (error as NSError).userInfo[NSDebugDescriptionErrorKey] ?? error.localizedDescription
            throw NetworkError(.decoding, "the body is not valid JSON: \(reason)", request: response.request)
        }
    }
}

/// The number of items so far, on a separate line that is updated at most ten times a second. The line is shown only
/// on a terminal that does not also show the items, so that the two do not mix.
private struct Progress {
    private let isShown = isatty(STDERR_FILENO) == 1 && isatty(STDOUT_FILENO) == 0
    private let clock = ContinuousClock()
    private var count = 0
    private var nextTime = ContinuousClock.now

    mutating func add() {
        count += 1
        guard isShown, clock.now >= nextTime else { return }
        nextTime = clock.now + .milliseconds(100)
        write("\r\u{1B}[K\(count) items", to: .standardError)
    }

    /// Ends the line with the outcome.
    func end(_ outcome: String = "") {
        write((isShown ? "\r\u{1B}[K" : "") + "\(count) items\(outcome)\n", to: .standardError)
    }
}
