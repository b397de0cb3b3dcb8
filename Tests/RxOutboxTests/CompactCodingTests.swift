#if Outbox
import Foundation
import RxHTTP
import RxTesting
import Testing

@testable import RxOutbox

/// The compact forms of entries: they keep everything, do not change from release to release, and refuse other bytes.
@Suite(.timeLimit(.minutes(3))) struct CompactCodingTests {
    private static let date = Date(timeIntervalSinceReferenceDate: 800_000_000.125)
    private static let failure = OutboxFailure(
        NetworkError(.file, "the disk is full"))

    private static let reasons: [WaitReason] = [
        .failure(failure), .inProgress, .interrupted, .account, .unreadable("no endpoint is named “n”"),
    ]

    private static let deliveries: [OutboxDelivery] = {
        var phases: [OutboxDelivery.Phase] = [.queued, .sending]
        for reason in reasons {
            phases.append(.waiting(until: .distantFuture, reason))
            phases.append(.dead(.keyExpired(reason)))
            phases.append(.dead(.uncertain(reason)))
            phases.append(.dead(.expired(reason)))
        }
        let dead: [DeadReason] = [
            .refused(failure), .keyReused(failure), .keyExpired(nil), .expired(nil),
            .unreadable("“n” is missing"), .attachment(path: "/tmp/ä"),
        ]
        phases += dead.map { .dead($0) }
        return phases.enumerated().map { (index: Int, phase: OutboxDelivery.Phase) -> OutboxDelivery in
            OutboxDelivery(
                attempts: index * 100, mayHaveArrivedSince: index % 2 == 0 ? date : nil, phase: phase,
                since: index % 3 == 0 ? nil : date + 0.1)
        }
    }()

    private static let terms: [OutboxEntry.Terms] = {
        var rules = KeyRules.draft(lifetime: .seconds(-3600) + .nanoseconds(7))
        rules.field = "X-Token"
        rules.margin = .milliseconds(1)
        let attachment = OutboxAttachment(path: "/a b", size: .max, digest: "00ff")
        return [
            OutboxEntry.Terms(name: "", version: .min, guarantee: .atLeastOnce, created: .distantPast),
            OutboxEntry.Terms(
                name: "order.place", version: 1, guarantee: .key("k", .stripe), created: date),
            OutboxEntry.Terms(
                name: "order.place", version: .max, guarantee: .key("k", rules),
                order: OutboxOrder("a", afterDeath: .release), topic: "", account: "anna",
                attachments: [attachment, attachment], created: date, expires: date + 1, isSealed: true),
            OutboxEntry.Terms(
                name: String(repeating: "n", count: 300), version: 2, guarantee: .atMostOnce,
                order: "b", created: date),
            OutboxEntry.Terms(
                name: "n", version: 1, guarantee: .key("given", .stripe), created: date, isKeyGiven: true),
        ]
    }()

    @Test func roundTrips() throws {
        for delivery in Self.deliveries {
            #expect(try OutboxDelivery(stored: delivery.compactForm) == delivery)
        }
        for terms in Self.terms { #expect(try OutboxEntry.Terms(stored: terms.compactForm) == terms) }
    }

    /// Rows of versions 1 and 2 hold JSON.
    @Test func json() throws {
        for delivery in Self.deliveries {
            #expect(try OutboxDelivery(stored: JSONEncoder().encode(delivery)) == delivery)
        }
        for terms in Self.terms {
            #expect(try OutboxEntry.Terms(stored: JSONEncoder().encode(terms)) == terms)
        }
    }

    /// The form on disk. If this fails, stores of former releases can no longer be read: a new form needs another number.
    @Test func form() {
        func text(_ data: Data) -> String { data.map { String(format: "%02x", $0) }.joined() }
        let terms = [
            "01", "166f726465722e706c616365", "02", "01", "026b", "1e4964656d706f74656e63792d4b6579", "00",
            "8051010000000000", "0000000000000000", "3c00000000000000", "0000000000000000",
            "14696e50726f6772657373", "0e72656675736564", "01", "01", "00", "00", "00", "00",
            "0000100084d7c741", "00", "00",
        ]
        #expect(text(Self.terms[1].compactForm) == terms.joined())
        let delivery = OutboxDelivery(
            attempts: 2, mayHaveArrivedSince: nil, phase: .dead(.expired(.interrupted)), since: Self.date)
        #expect(text(delivery.compactForm) == "01040004050103" + "010000100084d7c741")
    }

    /// A form that is cut off, continued, or of another number is refused.
    @Test func otherBytes() {
        for whole in Self.terms.map(\.compactForm) {
            for count in 0..<whole.count {
                #expect(throws: (any Error).self) { try OutboxEntry.Terms(stored: whole.prefix(count)) }
            }
            #expect(throws: (any Error).self) { try OutboxEntry.Terms(stored: whole + [0]) }
            #expect(throws: (any Error).self) { try OutboxEntry.Terms(stored: [2] + whole.dropFirst()) }
        }
    }

    /// Changed bytes are refused, or give another value; a count never reaches beyond the bytes.
    @Test(arguments: 0..<20)
    func changedBytes(seed: Int) {
        var random = SeededRandom(UInt64(seed))
        for _ in 0..<500 {
            guard var bytes = Self.terms.randomElement(using: &random)?.compactForm else { continue }
            let index = Int.random(in: 1..<bytes.count, using: &random)
            bytes[index] = UInt8.random(in: .min ... .max, using: &random)
            guard let found = try? OutboxEntry.Terms(stored: bytes) else { continue }
            #expect(found.name.utf8.count <= bytes.count && found.attachments.count <= bytes.count)
        }
    }
}
#endif
