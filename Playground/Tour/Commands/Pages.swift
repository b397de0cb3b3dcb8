import Foundation
import RxNetworking

/// `pages URL`: follows the Link headers of any JSON API and prints the items as JSON lines.
struct Pages {
    let url: String

    /// Whether it came to the end. Items go to standard output, progress and errors to standard error.
    func run() async -> Bool {
        let client = Client(baseURL: url)
        let list = Call(.get, "", headers: ["Accept": "application/json", "User-Agent": "RxNetworking"])
        let pages = client.items(list, .link) { response throws(NetworkError) in
            Page(try Self.items(of: response))
        }
        var count = 0
        do {
            for try await item in pages.values(buffering: .suspend(high: 256, low: 64)) {
                count += 1
                say(item)
                progress("\(count) items")
            }
        } catch {
            progress("\(count) items, then: \(error)\n")
            return false
        }
        progress("\(count) items\n")
        return true
    }

    private func progress(_ text: String) {
        FileHandle.standardError.write(Data("\r\(text)".utf8))
    }

    /// The elements of a top-level array, or of the one array in a top-level object, each on its own line.
    private static func items(of response: Response) throws(NetworkError) -> [String] {
        let document = try? JSONSerialization.jsonObject(with: Data(response.body))
        let arrays = (document as? [String: Any])?.values.compactMap { $0 as? [Any] } ?? []
        guard let elements = document as? [Any] ?? (arrays.count == 1 ? arrays[0] : nil) else {
            throw NetworkError(.decoding, "the body is no JSON list", request: response.request)
        }
        return elements.compactMap { element in
            let options: JSONSerialization.WritingOptions = [
                .fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes,
            ]
            return (try? JSONSerialization.data(withJSONObject: element, options: options))
                .map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
