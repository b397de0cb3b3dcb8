/// The reason why a file of a test, such as a cassette, cannot be read, written or recorded, with the place in the file.
///
/// ```
/// login.har:14:9: log.entries[3].request.url is missing
/// ```
public struct FixtureError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of problems.
    public enum Problem: Sendable, Equatable {
        /// The file cannot be read; the text says why.
        case unreadable(String)
        /// The file cannot be written; the text says why.
        case unwritable(String)
        /// The file has more bytes than the limit allows.
        case tooLarge(bytes: Int, limit: Int)
        /// The text is not JSON, or is cut off.
        case notJSON
        /// The file has a version of the format that cannot be read.
        case unsupportedVersion(String)
        /// A member is missing.
        case missing
        /// A value is of another kind; the text names the kind that is needed.
        case notA(String)
        /// A value that cannot be used; the text says why.
        case invalid(String)
        /// A response has no example that could be its content.
        case noExample
        /// A recording was asked for on a server of continuous integration.
        case recordingInCI
    }

    /// The problem.
    public let problem: Problem
    /// The file, if there is one.
    public let file: String?
    /// The path of the value in the document, such as `log.entries[3].request.url`; empty for the whole document.
    public let path: String
    /// The line, from 1; `nil` if the problem has no place in the text.
    public let line: Int?
    /// The column in bytes, from 1.
    public let column: Int?

    /// Creates an error.
    public init(
        _ problem: Problem, file: String? = nil, path: String = "", line: Int? = nil, column: Int? = nil
    ) {
        self.problem = problem
        self.file = file
        self.path = path
        self.line = line
        self.column = column
    }

    /// The file, the line and column, the path in the document, and the problem.
    public var description: String {
        let places = [file, line.map(String.init), column.map(String.init)].compactMap(\.self)
        let place = places.isEmpty ? "" : places.joined(separator: ":") + ": "
        let value = path.isEmpty ? "the document" : path
        return switch problem {
        case .unreadable(let reason): "\(place)the file cannot be read: \(reason)"
        case .unwritable(let reason): "\(place)the file cannot be written: \(reason)"
        case .tooLarge(let bytes, let limit): "\(place)the file has \(bytes) bytes; the limit is \(limit)"
        case .notJSON: "\(place)here the text ends too early or is not JSON"
        case .unsupportedVersion(let version): "\(place)\(value) is \(version), which cannot be read"
        case .missing: "\(place)\(value) is missing"
        case .notA(let kind): "\(place)\(value) is not \(kind)"
        case .invalid(let reason): "\(place)\(value): \(reason)"
        case .noExample: "\(place)\(value) has no example"
        case .recordingInCI: "\(place)a cassette is not recorded where CI is set; record it on your machine"
        }
    }
}
