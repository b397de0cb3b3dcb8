#if DiskCache
import RxCache
import RxHTTP
import RxSQLite
import Synchronization

/// The database of a store, and its counts. Methods that use the database block.
final class OpenCache: Sendable {
    private struct State {
        var database: CacheDatabase
        /// Rows that lookups have found, and whose use has not been written yet.
        var uses: [Int64] = []
    }

    private let limits: DiskCacheLimits
    private let state: Mutex<State>
    // May be locked within `state`, never around it.
    private let counts = Mutex((usage: CacheUsage(), statistics: DiskCacheStatistics()))
    /// The number of uses to write at once, unless a change comes first.
    private static let maxUses = 64

    init(_ folder: CacheFolder, limits: DiskCacheLimits) {
        self.limits = limits
        state = Mutex(State(database: CacheDatabase(folder: folder)))
    }

    /// The usage as far as known. Does not wait for work with the database.
    var usage: CacheUsage { counts.withLock { $0.usage } }
    /// The statistics as far as known. Does not wait for work with the database.
    var statistics: DiskCacheStatistics { counts.withLock { $0.statistics } }

    /// Opens the database, in order to count its contents.
    func open() { _ = change { _ in 0 } }

    /// Writes the pending uses, and closes the database.
    func close() {
        state.withLock { state in
            if !state.uses.isEmpty { _ = try? write(&state) { _ in } }
            state.database.close()
        }
    }

    /// All variants of a key, the latest first; empty if the disk fails.
    func entries(for key: CacheKey) -> [CacheEntry] {
        let found = state.withLock { state -> [CacheTable.Found] in
            do throws(SQLiteFailure) {
                defer { countReplaced(state) }
                let found = try state.database.read { db in
                    try CacheTable(db: db, limits: limits).entries(for: key)
                }
                settle(found, &state)
                return found
            } catch {
                record(error, in: \.failedLookups)
                return []
            }
        }
        return found.compactMap(\.entry).sorted { $0.metadata.freshness.date > $1.metadata.freshness.date }
    }

    /// Removes corrupt entries, and records the use of the others.
    private func settle(_ found: [CacheTable.Found], _ state: inout State) {
        let broken = found.filter { $0.entry == nil }.map(\.row)
        state.uses += found.filter { $0.entry != nil }.map(\.row)
        guard !broken.isEmpty || state.uses.count > Self.maxUses else { return }
        counts.withLock { $0.statistics.brokenEntries += broken.count }
        do throws(SQLiteFailure) {
            try write(&state) { try $0.remove(rows: broken) }
        } catch {
            record(error, in: \.failedChanges)
        }
    }

    /// Makes a change; `body` returns how many entries were evicted.
    func change(_ body: (CacheTable) throws -> Int) -> Result<Void, NetworkError> {
        mutate { state throws(SQLiteFailure) in
            let dropped = try write(&state, body)
            counts.withLock { $0.usage.evicted += dropped }
        }
    }

    /// Removes the selected entries. Returns how many there were.
    func remove(_ selection: CacheSelection) -> Result<Int, NetworkError> {
        mutate { state throws(SQLiteFailure) in
            guard selection == .all else { return try write(&state) { try $0.remove(selection) } }
            let total = try write(&state) { try $0.total() }
            // Removing the whole file is faster, and leaves nothing on disk.
            try state.database.removeAll()
            counts.withLock { ($0.usage.entries, $0.usage.bytes) = (0, 0) }
            return total.entries
        }
    }

    private func mutate<Value: Sendable>(
        _ body: (inout State) throws(SQLiteFailure) -> Value
    ) -> Result<Value, NetworkError> {
        let result = state.withLock { state -> Result<Value, SQLiteFailure> in
            do throws(SQLiteFailure) {
                return .success(try body(&state))
            } catch {
                return .failure(error)
            }
        }
        if case .failure(let failure) = result { record(failure, in: \.failedChanges) }
        return result.mapError(\.networkError)
    }

    private func write<Value>(
        _ state: inout State, _ body: (CacheTable) throws -> Value
    ) throws(SQLiteFailure) -> Value {
        let uses = state.uses
        state.uses = []
        defer { countReplaced(state) }
        let (value, total) = try state.database.write { db in
            let table = try CacheTable(db: db, limits: limits)
            try table.use(uses)
            return (try body(table), try table.total())
        }
        counts.withLock { ($0.usage.entries, $0.usage.bytes) = total }
        return value
    }

    private func countReplaced(_ state: State) {
        counts.withLock { $0.statistics.brokenDatabases = state.database.replacedCount }
    }

    private func record(
        _ failure: SQLiteFailure, in count: WritableKeyPath<DiskCacheStatistics, Int>
    ) {
        counts.withLock { counts in
            counts.statistics[keyPath: count] += 1
            if failure.kind == .busy { counts.statistics.busy += 1 }
            counts.statistics.lastFailure = failure.networkError
        }
    }
}

extension SQLiteFailure {
    /// Whether the database has to be replaced: the data on disk is not the written data, or, since the statements are
    /// correct, the tables are wrong.
    var isBroken: Bool {
        switch kind {
        case .damaged, .unfit, .otherVersion: true
        case .busy, .moved, .refused, .untrusted: false
        }
    }

    /// The failure for callers of the store.
    var networkError: NetworkError {
        NetworkError(kind == .untrusted ? .untrustedFile : .file, "disk cache: " + message)
    }
}
#endif
