#if DiskCache
import CZlib
import FoundationEssentials
import GRDB
import RxCache
import RxHTTP
import RxSQLite

/// The stored responses in a database, with their queries.
struct CacheTable {
    let db: Database
    let limits: DiskCacheLimits
    private let salt: [UInt8]

    /// - Throws: if the salt is missing.
    init(db: Database, limits: DiskCacheLimits) throws {
        self.db = db
        self.limits = limits
        guard let salt = try Data.fetchOne(db.cachedStatement(sql: "SELECT value FROM salt")) else {
            throw SQLiteFailure(.damaged, "the salt is missing")
        }
        self.salt = Array(salt)
    }

    /// The key as stored on disk: identity and content must not be found by trying values. Each database has
    /// a separate salt.
    private func salted(_ key: CacheKey) -> CacheKey {
        var key = key
        key.identity = salted(key.identity)
        key.content = salted(key.content)
        return key
    }

    private func salted(_ text: String) -> String {
        text.isEmpty ? "" : HexDigest.sha256(salt + Array(text.utf8))
    }

    /// One more drops the least recently used variant of the key. A lookup reads all variants.
    private static let maxVariants = 32
    private static let isOfKey = "url = ? AND rules = ? AND method = ? AND identity = ? AND content = ?"

    /// A row and its entry; the entry is `nil` if it differs from what was written.
    typealias Found = (row: Int64, entry: CacheEntry?)

    /// All variants of a key.
    func entries(for key: CacheKey) throws -> [Found] {
        let stored = salted(key)
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT entry.id, uuid, variant, metadata, metadataCheck, body.content, contentCheck
                FROM (SELECT * FROM entry WHERE \(Self.isOfKey)) entry LEFT JOIN body ON body.entry = entry.id
                """, arguments: arguments(of: stored))
        var found: [Found] = []
        while let row = try rows.next() {
            var entry = CacheRecord.entry(in: row, for: stored)
            entry?.metadata.key = key
            found.append((try row.decode(atIndex: 0), entry))
        }
        return found
    }

    /// Stores an entry in place of the one it replaces. Returns how many others were evicted.
    func store(_ entry: CacheEntry) throws -> Int {
        var metadata = entry.metadata
        metadata.key = salted(metadata.key)
        let record = try CacheRecord(metadata)
        try delete("\(Self.isOfKey) AND variant = ?", arguments(of: metadata.key) + [record.variant])
        try delete("uuid = ?", [metadata.id.uuidString])
        guard entry.byteCount <= limits.entryBytes else { return 0 }
        try db.execute(
            sql: """
                INSERT INTO entry (url, rules, method, identity, content, uuid, variant, place, metadata,
                    metadataCheck, bytes, used)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, \(Self.nextUse))
                """, arguments: arguments(of: metadata.key) + record.columns + [entry.byteCount])
        let row = db.lastInsertedRowID
        try db.execute(
            sql: "INSERT INTO body VALUES (?, ?, ?)",
            arguments: [row, Data(entry.body), CacheRecord.check(entry.body)])
        try setTags(metadata.tags, of: row)
        let variants = try drop(
            """
            SELECT id FROM entry WHERE \(Self.isOfKey) ORDER BY used DESC LIMIT -1 OFFSET \(Self.maxVariants)
            """, arguments(of: metadata.key))
        return try variants + makeRoom()
    }

    /// Replaces the metadata of the entry with the same id. Returns how many others were evicted.
    func update(_ metadata: CacheEntry.Metadata) throws -> Int {
        let size = CacheEntry(metadata, body: []).byteCount
        var metadata = metadata
        metadata.key = salted(metadata.key)
        let record = try CacheRecord(metadata)
        let found = try Row.fetchOne(
            db, sql: "SELECT id, length(body.content) FROM entry JOIN body ON body.entry = id WHERE uuid = ?",
            arguments: [metadata.id.uuidString])
        guard let found else { return 0 }
        let row: Int64 = try found.decode(atIndex: 0)
        let bytes = size + (try found.decode(Int.self, atIndex: 1))
        guard bytes <= limits.entryBytes else {
            try delete("id = ?", [row])
            return 0
        }
        try delete(
            "\(Self.isOfKey) AND variant = ? AND id <> ?",
            arguments(of: metadata.key) + [record.variant, row])
        try db.execute(
            sql: """
                UPDATE entry SET url = ?, rules = ?, method = ?, identity = ?, content = ?, uuid = ?, variant = ?,
                    place = ?, metadata = ?, metadataCheck = ?, bytes = ?, used = \(Self.nextUse)
                WHERE id = ?
                """, arguments: arguments(of: metadata.key) + record.columns + [bytes, row])
        try db.execute(sql: "DELETE FROM tag WHERE entry = ?", arguments: [row])
        try setTags(metadata.tags, of: row)
        return try makeRoom()
    }

    /// Removes the entries that ``CacheSelection/includes(_:)`` selects. Returns how many there were.
    func remove(_ selection: CacheSelection) throws -> Int {
        switch selection {
        case .all: try delete("true", [])
        case .id(let id): try delete("uuid = ?", [id.uuidString])
        case .url(let url): try delete("url = ?", [url])
        case .resource(let url): try delete("url = ? AND method = 'GET'", [url])
        case .anyQuery(of: let url): try delete("place = ?", [url])
        case .tag(let tag): try delete("id IN (SELECT entry FROM tag WHERE tag = ?)", [tag])
        case .identity(let identity): try delete("identity = ?", [salted(identity)])
        }
    }

    /// Removes rows.
    func remove(rows: [Int64]) throws {
        for row in rows { try delete("id = ?", [row]) }
    }

    /// Marks rows as used, the last one most recently.
    func use(_ rows: [Int64]) throws {
        for row in rows {
            try db.execute(sql: "UPDATE entry SET used = \(Self.nextUse) WHERE id = ?", arguments: [row])
        }
    }

    /// The number of entries and their bytes.
    func total() throws -> (entries: Int, bytes: Int) {
        guard let row = try Row.fetchOne(db, sql: "SELECT entries, bytes FROM total") else {
            throw SQLiteFailure(.damaged, "the totals are missing")
        }
        return (try row.decode(atIndex: 0), try row.decode(atIndex: 1))
    }

    private static let nextUse = "(SELECT coalesce(max(used), 0) + 1 FROM entry)"

    private func makeRoom() throws -> Int {
        var (entries, bytes) = try total()
        let rows = try Row.fetchCursor(db, sql: "SELECT id, bytes FROM entry ORDER BY used")
        var oldest: [Int64] = []
        while entries > limits.entries || bytes > limits.bytes, let row = try rows.next() {
            oldest.append(try row.decode(atIndex: 0))
            entries &-= 1
            bytes &-= try row.decode(Int.self, atIndex: 1)
        }
        try remove(rows: oldest)
        return oldest.count
    }

    private func drop(_ selection: String, _ arguments: StatementArguments) throws -> Int {
        try delete("id IN (\(selection))", arguments)
    }

    @discardableResult
    private func delete(_ condition: String, _ arguments: StatementArguments) throws -> Int {
        try db.execute(sql: "DELETE FROM entry WHERE \(condition)", arguments: arguments)
        return db.changesCount
    }

    private func setTags(_ tags: Set<String>, of row: Int64) throws {
        for tag in tags { try db.execute(sql: "INSERT INTO tag VALUES (?, ?)", arguments: [tag, row]) }
    }

    /// In the order of ``isOfKey``, and of the columns in the statements that write a row.
    private func arguments(of key: CacheKey) -> StatementArguments {
        [key.url, key.rules.rawValue, key.method, key.identity, key.content]
    }
}

/// The metadata of a stored response as columns, and back.
struct CacheRecord {
    /// The variant as text; equal variants have equal texts.
    let variant: String
    /// The columns from `uuid` to `metadataCheck`.
    let columns: StatementArguments

    init(_ metadata: CacheEntry.Metadata) throws {
        let json = try Self.encoder.encode(metadata)
        variant = try Self.text(of: metadata.variant)
        columns = [
            metadata.id.uuidString, variant, String(metadata.key.urlWithoutQuery), json, Self.check(json),
        ]
    }

    /// The entry in a row of `uuid, variant, metadata, metadataCheck, content, contentCheck` from the second
    /// column on; `nil` if it differs from the entry written under `key`.
    static func entry(in row: Row, for key: CacheKey) -> CacheEntry? {
        guard case .blob(let json) = (row[3] as DatabaseValue).storage,
            case .int64(let jsonCheck) = (row[4] as DatabaseValue).storage, jsonCheck == check(json),
            case .int64(let bodyCheck) = (row[6] as DatabaseValue).storage,
            let body = try? row.withUnsafeData(atIndex: 5, { $0.map(Array.init) ?? [] }),
            bodyCheck == check(body),
            let metadata = try? CacheEntry.Metadata.decoder().decode(CacheEntry.Metadata.self, from: json),
            metadata.key == key, (row[1] as DatabaseValue) == metadata.id.uuidString.databaseValue,
            let variant = try? text(of: metadata.variant), (row[2] as DatabaseValue) == variant.databaseValue
        else { return nil }
        return CacheEntry(metadata, body: body)
    }

    /// The CRC-32 of bytes.
    static func check(_ bytes: some ContiguousBytes) -> Int64 {
        unsafe bytes.withUnsafeBytes { bytes in
            // zlib takes lengths of 32 bits.
            var check = crc32(0, nil, 0)
            var rest = unsafe bytes[...]
            while let start = unsafe UnsafeRawBufferPointer(rebasing: rest).baseAddress, unsafe !rest.isEmpty
            {
                let part = unsafe rest.prefix(1 << 30)
                unsafe check = crc32(check, start.assumingMemoryBound(to: UInt8.self), UInt32(part.count))
                unsafe rest = rest.dropFirst(part.count)
            }
            return Int64(check)
        }
    }

    private static func text(of variant: CacheVariant) throws -> String {
        variant.fields.isEmpty ? "" : String(decoding: try encoder.encode(variant.fields), as: UTF8.self)
    }

    // A change of the settings of encoder or decoder needs another ``CacheSchema/version``.

    private static var encoder: JSONEncoder {
        let encoder = CacheEntry.Metadata.encoder()
        // Variants are compared by their texts.
        encoder.outputFormatting = .sortedKeys
        return encoder
    }
}
#endif
