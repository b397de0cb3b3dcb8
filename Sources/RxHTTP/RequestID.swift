import Synchronization

/// Identifies one request within this process. All attempts, replays and redirects of a request share its id.
public struct RequestID: Hashable, Sendable, CustomStringConvertible {
    /// Counts up from 1 over the life of the process.
    public let rawValue: UInt64

    private static let latest = Atomic<UInt64>(0)

    /// A new, unique id.
    public static func next() -> RequestID {
        RequestID(rawValue: Chance.source?.nextID() ?? latest.add(1, ordering: .relaxed).newValue)
    }

    /// `#` and the number.
    public var description: String { "#\(rawValue)" }
}
