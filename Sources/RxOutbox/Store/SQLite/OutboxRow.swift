#if Outbox
import FoundationEssentials

/// An entry as its row has it. Encoded by the caller, not by the thread that waits for the disk.
struct OutboxRow: Sendable {
    let entry: OutboxEntry
    let terms: Data
    let content: Data
    let entryCheck: Int64
    let delivery: EncodedDelivery

    init(_ entry: OutboxEntry, _ content: Data) {
        self.entry = entry
        self.content = content
        terms = entry.terms.compactForm
        entryCheck = OutboxTable.check(entry.id, terms, content)
        delivery = EncodedDelivery(entry.delivery, of: entry.id)
    }
}

/// A delivery as its row has it.
struct EncodedDelivery: Sendable {
    let phase: Int
    let encoded: Data
    let check: Int64

    init(_ delivery: OutboxDelivery, of id: OutboxID) {
        phase = OutboxTable.Phase.of(delivery)
        encoded = delivery.compactForm
        check = OutboxTable.check(id, encoded)
    }
}

/// An ``OutboxChange`` with encoded deliveries.
enum PreparedChange: Sendable {
    case begin(OutboxID, EncodedDelivery)
    case settle(OutboxID, EncodedDelivery)
    case complete(OutboxID, OutboxReceipt?)
    case revive(OutboxEntry, Data?)
    case discard(OutboxID)

    init(_ change: OutboxChange) {
        self =
            switch change {
            case .begin(let id, let delivery): .begin(id, EncodedDelivery(delivery, of: id))
            case .settle(let id, let delivery): .settle(id, EncodedDelivery(delivery, of: id))
            case .complete(let id, let receipt): .complete(id, receipt)
            case .revive(let entry, let content): .revive(entry, content)
            case .discard(let id): .discard(id)
            }
    }
}
#endif
