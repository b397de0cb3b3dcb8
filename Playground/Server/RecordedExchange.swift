import FoundationEssentials

/// A recorded request with its response.
struct RecordedExchange: Decodable, Sendable {
    var scenario: String
    var method: String
    /// Path and query.
    var url: String
    var status: Int
    /// Names and values, in the order received.
    var headers: [[String]]
    var body: String
    /// The place within the scenario.
    var order: Int

    /// The method, the path and the sorted items of the query, by which a request is identified.
    var key: String { Self.key(method: method, target: url) }

    static func key(method: String, target: String) -> String {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let items = parts.count > 1 ? parts[1].split(separator: "&").sorted() : []
        return "\(method) \(parts[0])?\(items.joined(separator: "&"))"
    }

    func field(_ name: String) -> String? {
        headers.first { $0[0].lowercased() == name }?[1]
    }

    /// The body as sent on the wire. Recorders write a body that is not text as hexadecimal digits, two for each
    /// byte that the recorded Content-Length counts.
    func bytes(rewrittenBy rewrite: (String) -> String) -> Data {
        let digits = Array(body.utf8)
        guard let length = field("content-length").flatMap({ Int($0) }), length > 0,
            digits.count == 2 * length, let bytes = Self.bytes(hexadecimal: digits)
        else { return Data(rewrite(body).utf8) }
        return bytes
    }

    private static func bytes(hexadecimal digits: [UInt8]) -> Data? {
        let values = digits.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard values.count == digits.count else { return nil }
        return Data(stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] * 16 + values[$0 + 1]) })
    }
}

extension RecordingReplay {
    /// A recording that cannot be used.
    public struct InvalidRecording: Error, CustomStringConvertible {
        /// The file.
        public let path: String
        /// The line, from 1; `nil` if the whole file is unreadable or empty.
        public let line: Int?
        /// The reason.
        public let reason: String

        /// File, line and reason.
        public var description: String { "\(path)\(line.map { ":\($0)" } ?? ""): \(reason)" }
    }
}

extension RecordedExchange {
    /// All exchanges of a file with one JSON object per line; blank lines are skipped.
    static func exchanges(inFile path: String) throws -> [RecordedExchange] {
        guard let contents = FileManager.default.contents(atPath: path) else {
            throw RecordingReplay.InvalidRecording(path: path, line: nil, reason: "the file cannot be read")
        }
        let decoder = JSONDecoder()
        var exchanges: [RecordedExchange] = []
        for (index, line) in contents.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .enumerated() where !line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") })
        {
            do {
                let exchange = try decoder.decode(RecordedExchange.self, from: line)
                guard (200...599).contains(exchange.status) else {
                    throw Invalid("the status \(exchange.status) is not between 200 and 599")
                }
                guard exchange.headers.allSatisfy({ $0.count == 2 }) else {
                    throw Invalid("a header is not a pair of name and value")
                }
                guard exchange.url.hasPrefix("/") else {
                    throw Invalid("the url is not a path: \(exchange.url)")
                }
                exchanges.append(exchange)
            } catch {
                throw RecordingReplay.InvalidRecording(path: path, line: index + 1, reason: "\(error)")
            }
        }
        guard !exchanges.isEmpty else {
            throw RecordingReplay.InvalidRecording(path: path, line: nil, reason: "the file has no exchanges")
        }
        return exchanges
    }

    private struct Invalid: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }
}
