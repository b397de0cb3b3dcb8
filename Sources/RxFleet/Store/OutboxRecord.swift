#if Fleet && Outbox
import FoundationEssentials
import RxHTTP
import RxOutbox

/// The entries of an outbox as one record of a shared store.
struct OutboxRecord: Codable, Sendable {
    struct Row: Codable, Sendable {
        var entry: OutboxEntry
        /// The last part of the key under which the endpoint is stored.
        var content: String
    }

    static let currentFormat = 1
    /// How many writes are remembered, so that a writer finds out whether its own has taken place.
    static let commitCount = 32

    var format = OutboxRecord.currentFormat
    var revision: Int64 = 0
    var latestSequence: Int64 = 0
    /// In the order of their sequence numbers.
    var rows: [Row] = []
    var commits: [String] = []
    /// The given keys of delivered entries, whose life with the server has not ended.
    var usedKeys: [String: Use] = [:]
    /// Contents that no row refers to any more; empty in a stored record.
    var garbage: [String] = []

    struct Use: Codable, Sendable {
        var id: OutboxID
        var until: Date
    }

    private struct Version: Decodable { var format: Int }

    static var damage: NetworkError {
        NetworkError(.corruptStore, "the outbox in the shared store is not what was written")
    }

    init() {}

    /// Reads a record. The fields of another release may be others.
    init(json: Data) throws(NetworkError) {
        let record = try? JSONDecoder().decode(Self.self, from: json)
        let format = record?.format ?? (try? JSONDecoder().decode(Version.self, from: json))?.format
        if let format, format != Self.currentFormat {
            throw NetworkError(.laterFormat, "another release has written the outbox in the shared store")
        }
        guard let record else { throw Self.damage }
        self = record
    }

    mutating func keep(_ receipt: OutboxReceipt) {
        guard let used = receipt.usedKey else { return }
        usedKeys = usedKeys.filter { $0.value.until > receipt.delivered }
        usedKeys[used.key] = Use(id: receipt.id, until: used.until)
    }

    mutating func remove(_ id: OutboxID) {
        guard let index = rows.firstIndex(where: { $0.entry.id == id }) else { return }
        garbage.append(rows.remove(at: index).content)
    }
}
#endif
