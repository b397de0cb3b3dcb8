public import FoundationEssentials

/// A recorded session in the HTTP Archive format 1.2, which browsers' developer tools and many others read.
///
/// Made by `HARRecording`. Member names are the format's; those that begin with an underscore are extensions, as
/// the format provides for. Specification: <https://w3c.github.io/web-performance/specs/HAR/Overview.html>.
public struct HAR: Codable, Sendable, Equatable {
    /// The one member of the document.
    public var log: Log

    /// The exchanges and the program that recorded them.
    public struct Log: Codable, Sendable, Equatable {
        /// The version of the format.
        public var version = "1.2"
        /// The recording program.
        public var creator = Creator()
        /// The exchanges, in the order in which they began.
        public var entries: [Entry]
        /// A remark.
        public var comment: String?
    }

    /// A program.
    public struct Creator: Codable, Sendable, Equatable {
        /// Its name.
        public var name = "RxNetworking"
        /// Its version.
        public var version = "1.0"
    }

    package init(_ entries: [Entry]) { log = Log(entries: entries) }

    /// The document, as UTF-8.
    public func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}
