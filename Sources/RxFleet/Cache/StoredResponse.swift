#if Fleet
import Crypto
import FoundationEssentials
import RxCache
import RxHTTP

/// The stored form of a response: a header with the epochs that were valid when it was stored, then metadata and body,
/// with a checksum or sealed.
///
/// Bytes from a store are not trusted: reading never traps, takes linear time, and fails with a typed error.
struct StoredResponse: Sendable {
    /// The epochs of the selections that include the response, by their name in the store.
    var epochs: [String: UInt64]
    var entry: CacheEntry

    private static let magic = Array("RXR".utf8)
    /// The version of the form with a checksum. A sealed response has that of ``SealedForm`` in its place: a
    /// change of the layout within raises both.
    private static let version: UInt8 = 1
    private static let digestLength = 32
    /// A header with more is not one of ours: a smaller number would make stored responses unreadable.
    private static let maxMetadata = 1 << 20

    private struct Head: Codable {
        var epochs: [String: UInt64]
        var metadata: CacheEntry.Metadata
    }

    init(epochs: [String: UInt64], entry: CacheEntry) {
        self.epochs = epochs
        self.entry = entry
    }

    /// - Parameter keys: the keys of the response's account; `nil` for a response without account.
    init(_ bytes: [UInt8], at entryName: String, unsealing keys: SealingKeys?) throws(NetworkError) {
        if let keys {
            try self.init(
                plain: SealedForm.unseal(bytes, as: .response, at: entryName, with: keys)[...], at: entryName)
            return
        }
        guard bytes.count > 4 + Self.digestLength, bytes.starts(with: Self.magic) else {
            throw NetworkError(.corruptEntry, "the entry \(entryName) is not a stored response")
        }
        guard bytes[3] <= Self.version else {
            throw NetworkError(.laterFormat, "the entry \(entryName) has the format \(bytes[3])")
        }
        let content = bytes[(4 + Self.digestLength)...]
        guard bytes[3] == Self.version,
            Self.digest(content, at: entryName).elementsEqual(bytes[4..<(4 + Self.digestLength)])
        else { throw NetworkError(.corruptEntry, "the entry \(entryName) has a wrong checksum") }
        try self.init(plain: content, at: entryName)
    }

    private init(plain: ArraySlice<UInt8>, at entryName: String) throws(NetworkError) {
        let corrupt = NetworkError(.corruptEntry, "the entry \(entryName) is not a stored response")
        guard plain.count >= 4 else { throw corrupt }
        let length = plain.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard length <= Self.maxMetadata, plain.count >= 4 + length else { throw corrupt }
        let head: Head
        do {
            let decoder = CacheEntry.Metadata.decoder()
            head = try decoder.decode(Head.self, from: Data(plain.dropFirst(4).prefix(length)))
        } catch { throw corrupt }
        epochs = head.epochs
        entry = CacheEntry(head.metadata, body: Array(plain.dropFirst(4 + length)))
    }

    /// The form that the initializer above reads, also in other releases; see ``version``.
    ///
    /// - Parameter keys: the keys of the response's account; `nil` for a response without account.
    func bytes(at entryName: String, sealing keys: SealingKeys?) throws(NetworkError) -> [UInt8] {
        let head: [UInt8]
        do {
            let encoder = CacheEntry.Metadata.encoder()
            head = Array(try encoder.encode(Head(epochs: epochs, metadata: entry.metadata)))
        } catch { throw NetworkError(.corruptEntry, "the response \(entryName) cannot be encoded: \(error)") }
        guard head.count <= Self.maxMetadata else {
            throw NetworkError(
                .tooLarge, "the header fields of the response \(entryName) are too large to be stored")
        }
        var plain: [UInt8] = []
        plain.reserveCapacity(4 + head.count + entry.body.count)
        for shift in [24, 16, 8, 0] { plain.append(UInt8(truncatingIfNeeded: head.count >> shift)) }
        plain += head
        plain += entry.body
        if let keys { return try SealedForm.seal(plain, as: .response, at: entryName, with: keys.current) }
        return Self.magic + [Self.version] + Self.digest(plain[...], at: entryName) + plain
    }

    /// Includes the name of the entry, so that one that was moved is not found to be intact.
    private static func digest(_ content: ArraySlice<UInt8>, at entryName: String) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: Array(entryName.utf8))
        hash.update(data: [0])
        hash.update(data: content)
        return Array(hash.finalize())
    }
}

/// The names of cached responses, of the selections that include them, and of fetches, in the store.
///
/// Names are digests: URLs may contain secrets, and an account's name is not for operators of the store.
/// Processes of all releases must make the same ones.
struct CacheNames: Sendable {
    let prefix: String

    /// The name of the entry with the variants of a key.
    func entryName(of key: CacheKey) -> String {
        prefix + "r:" + digest([key.rules.rawValue, key.method, key.url, key.identity, key.content])
    }

    /// The entry of the process that fetches the response of a key, and the channel on which it tells that it is done.
    func fetch(of key: CacheKey) -> String {
        prefix + "f:" + digest([key.rules.rawValue, key.method, key.url, key.identity, key.content])
    }

    /// The epoch of a selection, by the same name in all releases; `nil` for a single response, which has none.
    func epoch(of selection: CacheSelection) -> String? {
        switch selection {
        case .all: prefix + "e:all"
        case .id: nil
        case .url(let url): prefix + "e:" + digest(["url", url])
        case .resource(let url): prefix + "e:" + digest(["resource", url])
        case .anyQuery(of: let url): prefix + "e:" + digest(["place", url])
        case .tag(let tag): prefix + "e:" + digest(["tag", tag])
        case .identity(let identity): prefix + "e:" + digest(["identity", identity])
        }
    }

    /// The epochs that a response with this key and these tags belongs to, sorted: of the selections of
    /// `CacheSelection.names(of:tags:)`, and of `all`. Removals of any other kind would have no effect.
    func epochs(of key: CacheKey, tags: Set<String>) -> [String] {
        var selections: [CacheSelection] = [
            .all, .url(key.url), .anyQuery(of: String(key.urlWithoutQuery)), .identity(key.identity),
        ]
        if key.isResource { selections.append(.resource(key.url)) }
        return (selections + tags.map(CacheSelection.tag)).compactMap { epoch(of: $0) }.sorted()
    }

    /// Part of names in the store: with another digest, the responses of other releases are not found.
    private func digest(_ parts: [String]) -> String {
        var hash = SHA256()
        for part in parts {
            // Lengths keep parts apart.
            hash.update(data: Array("\(part.utf8.count):".utf8))
            hash.update(data: Array(part.utf8))
        }
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: hash.finalize().prefix(20).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
            as: UTF8.self)
    }
}
#endif
