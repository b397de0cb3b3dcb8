#if Outbox
import FoundationEssentials

// The compact forms of an entry's parts, in the order of their declarations; whether a key is given is stored with the
// guarantee. The numbers of cases are stored, and keep their meaning; a new case needs its number in `init(from:)`,
// too, where the compiler does not ask for it. To change a layout, see `CompactForm`.

extension OutboxEntry.Terms: CompactValue {
    func write(to writer: inout CompactWriter) {
        writer.write(name)
        writer.write(version)
        writer.write(StoredGuarantee(guarantee: guarantee, isKeyGiven: isKeyGiven))
        writer.write(order)
        writer.write(topic)
        writer.write(account)
        writer.write(attachments)
        writer.write(created)
        writer.write(expires)
        writer.write(isSealed)
    }

    init(from reader: inout CompactReader) throws(CompactFormError) {
        let name = try reader.value(String.self)
        let version = try reader.value(Int.self)
        let stored = try reader.value(StoredGuarantee.self)
        self.init(
            name: name, version: version, guarantee: stored.guarantee,
            order: try reader.optional(), topic: try reader.optional(), account: try reader.optional(),
            attachments: try reader.list(), created: try reader.value(), expires: try reader.optional(),
            isSealed: try reader.value(), isKeyGiven: stored.isKeyGiven)
    }
}

/// A guarantee, and whether its key is a given one. Version 4 of the store has added the latter.
private struct StoredGuarantee: CompactValue {
    var guarantee: DeliveryGuarantee
    var isKeyGiven: Bool?

    init(guarantee: DeliveryGuarantee, isKeyGiven: Bool?) {
        self.guarantee = guarantee
        self.isKeyGiven = isKeyGiven
    }

    func write(to writer: inout CompactWriter) {
        switch guarantee {
        case .key(let key, let rules):
            writer.write((isKeyGiven == true ? 4 : 1) as UInt8)
            writer.write(key)
            writer.write(rules)
        case .atLeastOnce: writer.write(2 as UInt8)
        case .atMostOnce: writer.write(3 as UInt8)
        }
    }

    init(from reader: inout CompactReader) throws(CompactFormError) {
        let number = try reader.byte()
        switch number {
        case 1, 4: guarantee = .key(try reader.value(), try reader.value())
        case 2: guarantee = .atLeastOnce
        case 3: guarantee = .atMostOnce
        default: throw CompactFormError()
        }
        isKeyGiven = number == 4 ? true : nil
    }
}

extension KeyRules: CompactValue {
    func write(to writer: inout CompactWriter) {
        writer.write(field)
        writer.write(isQuoted)
        writer.write(lifetime)
        writer.write(margin)
        writer.write(conflict.rawValue)
        writer.write(unprocessable.rawValue)
        writer.write(repeatsServerErrors)
        writer.write(comparesBody)
    }

    init(from reader: inout CompactReader) throws(CompactFormError) {
        let field = try reader.value(String.self)
        let isQuoted = try reader.value(Bool.self)
        let lifetime = try reader.value(Duration.self)
        let margin = try reader.value(Duration.self)
        guard let conflict = Meaning(rawValue: try reader.value()),
            let unprocessable = Meaning(rawValue: try reader.value())
        else { throw CompactFormError() }
        self.init(
            lifetime: lifetime, isQuoted: isQuoted, conflict: conflict, unprocessable: unprocessable,
            repeatsServerErrors: try reader.value(), comparesBody: try reader.value())
        self.field = field
        self.margin = margin
    }
}

extension OutboxOrder: CompactValue {
    func write(to writer: inout CompactWriter) {
        writer.write(key)
        writer.write(afterDeath.rawValue)
    }

    init(from reader: inout CompactReader) throws(CompactFormError) {
        let key = try reader.value(String.self)
        guard let afterDeath = AfterDeath(rawValue: try reader.value()) else { throw CompactFormError() }
        self.init(key, afterDeath: afterDeath)
    }
}

extension OutboxAttachment: CompactValue {
    func write(to writer: inout CompactWriter) {
        writer.write(path)
        writer.write(Int(size))
        writer.write(digest)
    }

    init(from reader: inout CompactReader) throws(CompactFormError) {
        self.init(
            path: try reader.value(), size: Int64(try reader.value(Int.self)), digest: try reader.value())
    }
}

extension OutboxDelivery: CompactValue {
    func write(to writer: inout CompactWriter) {
        writer.write(attempts)
        writer.write(mayHaveArrivedSince)
        writer.write(phase)
        writer.write(since)
    }

    init(from reader: inout CompactReader) throws(CompactFormError) {
        self.init(
            attempts: try reader.value(), mayHaveArrivedSince: try reader.optional(),
            phase: try reader.value(),
            since: try reader.optional())
    }
}

extension OutboxDelivery.Phase: CompactValue {
    func write(to writer: inout CompactWriter) {
        switch self {
        case .queued: writer.write(1 as UInt8)
        case .sending: writer.write(2 as UInt8)
        case .waiting(let date, let reason):
            writer.write(3 as UInt8)
            writer.write(date)
            writer.write(reason)
        case .dead(let reason):
            writer.write(4 as UInt8)
            writer.write(reason)
        }
    }

    init(from reader: inout CompactReader) throws(CompactFormError) {
        switch try reader.byte() {
        case 1: self = .queued
        case 2: self = .sending
        case 3: self = .waiting(until: try reader.value(), try reader.value())
        case 4: self = .dead(try reader.value())
        default: throw CompactFormError()
        }
    }
}

extension WaitReason: CompactValue {
    func write(to writer: inout CompactWriter) {
        switch self {
        case .failure(let failure):
            writer.write(1 as UInt8)
            writer.write(failure)
        case .inProgress: writer.write(2 as UInt8)
        case .interrupted: writer.write(3 as UInt8)
        case .account: writer.write(4 as UInt8)
        case .unreadable(let reason):
            writer.write(5 as UInt8)
            writer.write(reason)
        }
    }

    init(from reader: inout CompactReader) throws(CompactFormError) {
        switch try reader.byte() {
        case 1: self = .failure(try reader.value())
        case 2: self = .inProgress
        case 3: self = .interrupted
        case 4: self = .account
        case 5: self = .unreadable(try reader.value())
        default: throw CompactFormError()
        }
    }
}

extension OutboxFailure: CompactValue {
    func write(to writer: inout CompactWriter) {
        writer.write(code)
        writer.write(status)
        writer.write(message)
        writer.write(serverMessage)
    }

    init(from reader: inout CompactReader) throws(CompactFormError) {
        code = try reader.value()
        status = try reader.optional()
        message = try reader.value()
        serverMessage = try reader.optional()
    }
}

extension DeadReason: CompactValue {
    func write(to writer: inout CompactWriter) {
        func write(_ number: UInt8, _ value: some CompactValue) {
            writer.write(number)
            writer.write(value)
        }
        func writeLatest(_ number: UInt8, _ reason: WaitReason?) {
            writer.write(number)
            writer.write(reason)
        }
        switch self {
        case .refused(let failure): write(1, failure)
        case .keyReused(let failure): write(2, failure)
        case .keyExpired(let reason): writeLatest(3, reason)
        case .uncertain(let reason): write(4, reason)
        case .expired(let reason): writeLatest(5, reason)
        case .unreadable(let reason): write(6, reason)
        case .attachment(let path): write(7, path)
        }
    }

    init(from reader: inout CompactReader) throws(CompactFormError) {
        switch try reader.byte() {
        case 1: self = .refused(try reader.value())
        case 2: self = .keyReused(try reader.value())
        case 3: self = .keyExpired(try reader.optional())
        case 4: self = .uncertain(try reader.value())
        case 5: self = .expired(try reader.optional())
        case 6: self = .unreadable(try reader.value())
        case 7: self = .attachment(path: try reader.value())
        default: throw CompactFormError()
        }
    }
}
#endif
