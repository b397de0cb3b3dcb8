#if Outbox
public import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP

/// How long the results of delivered entries are kept, so that ``Outbox/ticket(_:of:)`` finds them after a restart and in
/// other processes.
public struct OutboxReceiptRules: Sendable, Hashable {
    /// The time from the delivery after which a receipt is not found any more. Default 24 hours.
    public var lifetime: Duration
    /// The most receipts that are kept, the latest ones. Default 1,000. The others are removed after each 128 deliveries.
    public var limit: Int
    /// The most bytes of a receipt, endpoint and response together. A larger one is not kept. Default 64 KiB.
    public var largestSize: Int

    /// The number of deliveries after which receipts are removed.
    static let surplus = 128

    /// Creates rules.
    ///
    /// - Parameters:
    ///   - lifetime: the time from the delivery. Default 24 hours.
    ///   - limit: the most receipts. Default 1,000.
    ///   - largestSize: the most bytes of a receipt. Default 64 KiB.
    public init(lifetime: Duration = .seconds(24 * 3600), limit: Int = 1000, largestSize: Int = 64 << 10) {
        self.lifetime = lifetime
        self.limit = limit
        self.largestSize = largestSize
    }
}

/// The result of a delivered entry, as a store keeps it.
public struct OutboxReceipt: Sendable, Hashable, Codable {
    /// The id of the entry.
    public let id: OutboxID
    /// When the entry was delivered.
    public let delivered: Date
    /// Whether the content is sealed.
    public let isSealed: Bool
    /// The endpoint and the response, for the outbox that has written them. Empty if the result is not kept: then a store
    /// keeps only ``usedKey``.
    public let content: Data
    /// The key that the caller has chosen for the entry, if any.
    public let usedKey: UsedKey?

    /// Creates a receipt.
    ///
    /// - Parameters:
    ///   - id: the id of the entry.
    ///   - delivered: when the entry was delivered.
    ///   - isSealed: whether the content is sealed.
    ///   - content: the endpoint and the response; empty if the result is not kept.
    ///   - usedKey: the key that the caller has chosen for the entry. Default `nil`: none.
    public init(
        id: OutboxID, delivered: Date, isSealed: Bool, content: Data, usedKey: UsedKey? = nil
    ) {
        self.id = id
        self.delivered = delivered
        self.isSealed = isSealed
        self.content = content
        self.usedKey = usedKey
    }
}

/// A key of ``OutboxKey/given(_:_:)`` with which an entry has been delivered. A store keeps it as long as the server may, so
/// that the key does not begin a second life in the outbox.
public struct UsedKey: Sendable, Hashable, Codable {
    /// The key, with the account of the entry, see ``OutboxEntry/usedKeyName``.
    public let key: String
    /// The end of the key's life with the server.
    public let until: Date

    /// Creates the memory of a key.
    ///
    /// - Parameters:
    ///   - key: the key, with the account of the entry.
    ///   - until: the end of the key's life with the server.
    public init(_ key: String, until: Date) {
        self.key = key
        self.until = until
    }
}

/// The content of a receipt. The output is made from the response again, since not every output can be stored. Receipts
/// of older releases are JSON with these names; of the compact form, see `CompactForm`.
private struct StoredResponse: Codable {
    var name: String
    var version: Int
    /// Whether the endpoint is sealed, as its entry was.
    var isSealed: Bool
    var endpoint: Data
    var url: String
    var status: Int
    /// Names and values, one after the other.
    var fields: [String]
    var payloadPath: [String]
    var body: Data
}

extension StoredResponse: CompactValue {
    func write(to writer: inout CompactWriter) {
        writer.write(name)
        writer.write(version)
        writer.write(isSealed)
        writer.write(endpoint)
        writer.write(url)
        writer.write(status)
        writer.write(fields)
        writer.write(payloadPath)
        writer.write(body)
    }

    init(from reader: inout CompactReader) throws(CompactFormError) {
        self.init(
            name: try reader.value(), version: try reader.value(), isSealed: try reader.value(),
            endpoint: try reader.value(), url: try reader.value(), status: try reader.value(),
            fields: try reader.list(), payloadPath: try reader.list(), body: try reader.value())
    }
}

extension EndpointTypes {
    /// The receipt of an entry; `nil` if it is too large, or cannot be sealed. Fields that a log would not show are left
    /// out.
    func receipt(
        of entry: OutboxEntry, _ content: Data, _ response: Response, hiding redaction: Redaction,
        _ rules: OutboxReceiptRules, at date: Date
    ) -> OutboxReceipt? {
        guard content.count + response.body.count <= rules.largestSize else { return nil }
        let fields = response.head.headerFields.filter { !redaction.hides($0.name) }
        let stored = StoredResponse(
            name: entry.name, version: entry.version, isSealed: entry.isSealed, endpoint: content,
            url: redaction.shown(url: response.url.absoluteString), status: response.status.code,
            fields: fields.flatMap { [$0.name.rawName, $0.value] }, payloadPath: response.payloadPath,
            body: Data(response.body))
        guard let sealed = try? sealed(stored.compactForm) else { return nil }
        return OutboxReceipt(id: entry.id, delivered: date, isSealed: isSealing, content: sealed)
    }

    /// Whether a delivered entry held another endpoint than an entry with its key; false if the receipt does not tell.
    func isOther(_ receipt: OutboxReceipt, than entry: OutboxEntry, _ content: Data) -> Bool {
        guard let opened = try? opened(receipt.content, isSealed: receipt.isSealed),
            let stored = try? StoredResponse(stored: opened),
            let former = try? self.opened(stored.endpoint, isSealed: stored.isSealed),
            let present = try? self.content(of: entry, content)
        else { return false }
        if stored.name != entry.name { return true }
        if stored.version == entry.version, former == present { return false }
        // Another version of the app may have written it.
        return current(self.entry(of: receipt, stored), stored.endpoint) != present
    }

    /// An entry with the form of a delivered one.
    private func entry(of receipt: OutboxReceipt, _ stored: StoredResponse) -> OutboxEntry {
        OutboxEntry(
            id: receipt.id,
            OutboxEntry.Terms(
                name: stored.name, version: stored.version, guarantee: .atLeastOnce,
                created: receipt.delivered, isSealed: stored.isSealed))
    }

    /// The output of a delivered entry; `nil` if the receipt cannot be read, or is that of another endpoint.
    func output<E: OutboxEndpoint>(
        _ type: E.Type, of receipt: OutboxReceipt, _ decoder: JSONDecoder
    ) -> E.Output? {
        guard let content = try? opened(receipt.content, isSealed: receipt.isSealed),
            let stored = try? StoredResponse(stored: content),
            let url = URL(string: stored.url)
        else { return nil }
        guard let endpoint = try? decode(type, of: entry(of: receipt, stored), stored.endpoint) else {
            return nil
        }
        var fields = HTTPFields()
        for index in stride(from: 0, to: stored.fields.count - 1, by: 2) {
            guard let name = HTTPField.Name(stored.fields[index]) else { continue }
            fields.append(HTTPField(name: name, value: stored.fields[index + 1]))
        }
        var response = Response(
            head: ResponseHead(status: .init(code: stored.status), headerFields: fields),
            body: Array(stored.body), request: Request(method: endpoint.method, url: url), decoder: decoder)
        response.payloadPath = stored.payloadPath
        return try? endpoint.output(from: response)
    }
}
#endif
