public import FoundationEssentials

/// A recorded session in the HTTP Archive format 1.2, which browsers' developer tools and many other tools
/// read.
///
/// `HARRecording` creates it. The member names are those of the format; names that begin with an underscore
/// are extensions, which the format allows. Specification:
/// <https://w3c.github.io/web-performance/specs/HAR/Overview.html>.
public struct HAR: Codable, Sendable, Equatable {
    /// The only member of the document.
    public var log: Log

    /// The exchanges and the program that recorded them.
    public struct Log: Codable, Sendable, Equatable {
        /// The version of the format.
        public var version = "1.2"
        /// The recording program.
        public var creator = Creator()
        /// The exchanges, in the order in which they began.
        public var entries: [Entry]
        /// A comment.
        public var comment: String?
    }

    /// A program.
    public struct Creator: Codable, Sendable, Equatable {
        /// The name of the program.
        public var name = "RxNetworking"
        /// The version of the program.
        public var version = "1.0"
    }

    package init(_ entries: [Entry]) { log = Log(entries: entries) }

    /// The document in JSON, as UTF-8.
    public func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}
