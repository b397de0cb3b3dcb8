#if Fleet && Outbox
import FoundationEssentials
import RxHTTP
import RxOutbox

/// The entries of an outbox as one record of a shared store.
struct OutboxRecord: Codable, Sendable {
    /// An entry, and where its endpoint is.
    struct Row: Codable, Sendable {
        /// The entry, without its endpoint.
        var entry: OutboxEntry
        /// The last part of the key under which the endpoint is stored.
        var content: String
    }

    /// The version of the encoded form. Processes of a release with another number fail with `laterFormat`.
    static let currentFormat = 1
    /// How many writes are remembered in ``recentWriteTokens``.
    static let tokenCount = 32

    /// The version of the form in which the record was written.
    var format = OutboxRecord.currentFormat
    /// Counts the changes of the entries. A batch that leaves it as it is needs no write.
    var revision: Int64 = 0
    /// The sequence number of the entry that was added last, whether or not it is still there.
    var latestSequence: Int64 = 0
    /// The entries, in the order of their sequence numbers.
    var rows: [Row] = []
    /// The tokens of the latest writes, the last one at the end: a writer whose reply was lost looks for its own here.
    var recentWriteTokens: [String] = []
    /// Idempotency keys, chosen by the app, of delivered entries, until the server forgets them.
    var usedKeys: [String: Use] = [:]
    /// Contents that no row refers to any more; empty in a stored record.
    var garbage: [String] = []

    /// A used key.
    struct Use: Codable, Sendable {
        /// The entry that was delivered with the key.
        var id: OutboxID
        /// When the server forgets the key.
        var until: Date
    }

    // The names in the store, which other releases read. ``Row`` and ``Use`` are stored by the names of their
    // properties.
    private enum CodingKeys: String, CodingKey {
        case format
        case revision
        case latestSequence
        case rows
        case recentWriteTokens = "commits"
        case usedKeys
        case garbage
    }

    private struct Version: Decodable { var format: Int }

    /// The error about a stored record that cannot be read.
    static var corruptError: NetworkError {
        NetworkError(.corruptStore, "the outbox in the shared store is not what was written")
    }

    /// Creates a record without entries.
    init() {}

    /// Reads a record. Another version of RxFleet may have written it, with other fields.
    init(json: Data) throws(NetworkError) {
        let record = try? JSONDecoder().decode(Self.self, from: json)
        let format = record?.format ?? (try? JSONDecoder().decode(Version.self, from: json))?.format
        if let format, format != Self.currentFormat {
            throw NetworkError(.laterFormat, "another release has written the outbox in the shared store")
        }
        guard let record else { throw Self.corruptError }
        self = record
    }

    /// Keeps the key of a delivered entry, if the app has chosen it. The caller raises ``revision``; otherwise nothing
    /// is written.
    mutating func keep(_ receipt: OutboxReceipt) {
        guard let used = receipt.usedKey else { return }
        usedKeys = usedKeys.filter { $0.value.until > receipt.delivered }
        usedKeys[used.key] = Use(id: receipt.id, until: used.until)
    }

    /// Removes an entry, if it is there. The caller raises ``revision``; otherwise nothing is written.
    mutating func remove(_ id: OutboxID) {
        guard let index = rows.firstIndex(where: { $0.entry.id == id }) else { return }
        garbage.append(rows.remove(at: index).content)
    }
}
#endif
