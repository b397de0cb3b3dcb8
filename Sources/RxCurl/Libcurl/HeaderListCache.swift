import HTTPTypes
import RxHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The header lists used last; a client usually sends the same fields again.
///
/// The last fields may differ for each request, as `traceparent` does: once that is seen, the others are kept as a list
/// that such requests share.
struct HeaderListCache {
    fileprivate struct Entry {
        let extras: HeaderList.Extras
        /// The fields of the request that was the last to use this entry.
        var fields: [HTTPField]
        /// The list for ``fields``.
        var list: HeaderList
        /// The part of the list for the first fields and the extras.
        let shared: HeaderList
        /// The number of these fields.
        let sharedCount: Int
    }

    private var entries: [Entry] = []
    private static let capacity = 8
    /// The list for a GET without additional fields.
    private var bare: HeaderList?

    /// Returns the list for the fields of the transfer's request, or creates it; throws
    /// ``NetworkError/Code/invalidHeader``.
    mutating func list(for transfer: Transfer) throws(NetworkError) -> HeaderList {
        let request = transfer.request
        let wanted = request.headerFields
        if wanted.isEmpty, case .none = transfer.content, request.method == .get, request.decodesContent {
            if let bare { return bare }
            let lines = HeaderList.Extras.none.lines(besides: [])
            let made = try HeaderList([], .none, lines: lines, request: request)
            bare = made
            return made
        }
        let extras = HeaderList.Extras(of: transfer)
        var common: Int?
        // By index: a copy of an entry would keep its fields from being changed in place.
        for index in entries.indices where entries[index].extras == extras {
            let count = entries[index].commonCount(wanted)
            guard entries[index].hasNames(of: wanted, from: count) else { continue }
            if count >= entries[index].sharedCount {
                if count < wanted.count { try update(index, to: wanted, request) }
                if index > 0 { entries.swapAt(index, index - 1) }
                return entries[max(0, index - 1)].list
            }
            common = max(common ?? 0, count)
        }
        let entry = try Self.entry(Array(wanted), extras, after: common, request)
        if entries.count == Self.capacity { entries.removeLast() }
        entries.append(entry)
        return entry.list
    }

    /// Makes the list of an entry anew, except for its shared part. The other fields are sent unchanged: where
    /// ``HeaderList/Extras/sent(_:)`` changes fields, an entry shares all of them.
    private mutating func update(
        _ index: Int, to wanted: HTTPFields, _ request: Request
    ) throws(NetworkError) {
        let (shared, count) = (entries[index].shared, entries[index].sharedCount)
        let own = wanted[count...]
        entries[index].list = try HeaderList(
            ArraySlice(own), entries[index].extras, before: shared, request: request)
        for position in own.indices { entries[index].fields[position] = own[position] }
    }

    /// - Parameter common: the number of first fields that an earlier request with the same names had as well; they are
    ///   shared from now on. `nil` if there was none.
    private static func entry(
        _ fields: [HTTPField], _ extras: HeaderList.Extras, after common: Int?, _ request: Request
    ) throws(NetworkError) -> Entry {
        let sent = extras.sent(fields)
        let lines = extras.lines(besides: sent)
        // Fields of the same name stay in their order.
        guard let common, common > 0 || fields.count == 1, sent.count == fields.count,
            !sent.hasRepetition(from: common)
        else {
            let list = try HeaderList(sent[...], extras, lines: lines, request: request)
            return Entry(
                extras: extras, fields: fields, list: list, shared: list, sharedCount: fields.count)
        }
        let shared = try HeaderList(sent[..<common], extras, lines: lines, request: request)
        let list = try HeaderList(sent[common...], extras, before: shared, request: request)
        return Entry(extras: extras, fields: fields, list: list, shared: shared, sharedCount: common)
    }
}

extension HeaderListCache.Entry {
    /// The number of first fields that are equal to those of a request.
    fileprivate func commonCount(_ wanted: HTTPFields) -> Int {
        let most = min(fields.count, wanted.count)
        return (0..<most).first { !fields[$0].isSent(as: wanted[$0]) } ?? most
    }

    /// Whether a request has as many fields as the entry, and the same names from `start` on: ``update`` replaces
    /// fields by position.
    fileprivate func hasNames(of wanted: HTTPFields, from start: Int) -> Bool {
        fields.count == wanted.count
            && (start..<fields.count).allSatisfy { fields[$0].name.rawName == wanted[$0].name.rawName }
    }
}

extension HTTPField {
    /// Whether both are sent with the same bytes and coding. Texts that are equal may have different bytes: é is one
    /// character or two.
    fileprivate func isSent(as other: HTTPField) -> Bool {
        guard name.rawName == other.name.rawName, indexingStrategy == other.indexingStrategy else {
            return false
        }
        return unsafe withUnsafeBytesOfValue { bytes in
            unsafe other.withUnsafeBytesOfValue { others in
                guard bytes.count == others.count, let first = bytes.baseAddress,
                    let second = others.baseAddress
                else { return bytes.isEmpty && others.isEmpty }
                return unsafe memcmp(first, second, bytes.count) == 0
            }
        }
    }
}

extension [HTTPField] {
    /// Whether the name of a field from `start` on occurs in another field.
    fileprivate func hasRepetition(from start: Int) -> Bool {
        indices.dropFirst(start).contains { index in
            let name = self[index].name
            return indices.contains { $0 != index && self[$0].name == name }
        }
    }
}
