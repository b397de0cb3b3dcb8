package import Foundation

/// `KIND URL COUNT INFLIGHT [FILE]`, the same arguments as those of the C reference.
package struct Arguments: Sendable {
    /// The kind of the requests.
    package enum Kind: String, Sendable {
        /// GET, with the body kept in memory.
        case get
        /// GET, with a separate connection for each request in flight.
        case waiting
        /// GET, with the body decoded as ten ``Item``s.
        case typed
        /// POST of 1 KiB.
        case post
        /// GET over HTTP/2.
        case http2
        /// GET, with the body discarded.
        case discard
        /// GET, with each body written to a new file that replaces FILE.
        case download
        /// PUT of FILE.
        case upload
    }

    /// Invalid arguments.
    package struct Invalid: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    package let kind: Kind
    package let url: URL
    package let count: Int
    package let inFlight: Int
    package let file: String
    /// The file of certificate authorities in `CURL_CA_BUNDLE`, if it is set.
    package let caBundle = ProcessInfo.processInfo.environment["CURL_CA_BUNDLE"]

    /// The content of a POST.
    package let content = [UInt8](repeating: UInt8(ascii: "x"), count: 1024)

    /// Parses the arguments of this program.
    package init(program: String) throws(Invalid) {
        let words = CommandLine.arguments.dropFirst()
        guard words.count == 4 || words.count == 5 else {
            throw Invalid(description: "usage: \(program) KIND URL COUNT INFLIGHT [FILE]")
        }
        var rest = words.makeIterator()
        func next() -> String { rest.next() ?? "" }
        let (kind, url) = (next(), next())
        guard let known = Kind(rawValue: kind) else {
            throw Invalid(description: "no kind of request: \(kind)")
        }
        guard let parsed = URL(string: url) else { throw Invalid(description: "no URL: \(url)") }
        self.kind = known
        self.url = parsed
        count = try Self.number(next())
        inFlight = min(try Self.number(next()), count)
        file = next()
    }

    private static func number(_ word: String) throws(Invalid) -> Int {
        guard let number = Int(word), number >= 1 else {
            throw Invalid(description: "not a number from 1: \(word)")
        }
        return number
    }
}
