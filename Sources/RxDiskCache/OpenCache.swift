#if DiskCache
import GRDB
import RxCache
import RxHTTP
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The database of a store, and its counts. Methods that use the database block.
final class OpenCache: Sendable {
    private struct State {
        var database: CacheDatabase
        /// Rows that lookups have found, and whose use has not been written yet.
        var uses: [Int64] = []
    }

    private let limits: DiskCacheLimits
    private let state: Mutex<State>
    private let counts = Mutex((usage: CacheUsage(), statistics: DiskCacheStatistics()))
    /// The number of uses to write at once, unless a change comes first.
    private static let mostUses = 64

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
            do throws(CacheFailure) {
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
        return found.compactMap(\.entry).sorted { $0.metadata.terms.date > $1.metadata.terms.date }
    }

    /// Removes corrupt entries, and records the use of the others.
    private func settle(_ found: [CacheTable.Found], _ state: inout State) {
        let broken = found.filter { $0.entry == nil }.map(\.row)
        state.uses += found.filter { $0.entry != nil }.map(\.row)
        guard !broken.isEmpty || state.uses.count > Self.mostUses else { return }
        counts.withLock { $0.statistics.brokenEntries += broken.count }
        do throws(CacheFailure) {
            try write(&state) { try $0.remove(rows: broken) }
        } catch {
            record(error, in: \.failedChanges)
        }
    }

    /// Makes a change; `body` returns how many entries were evicted.
    func change(_ body: (CacheTable) throws -> Int) -> Result<Void, NetworkError> {
        mutate { state throws(CacheFailure) in
            let dropped = try write(&state, body)
            counts.withLock { $0.usage.evicted += dropped }
        }
    }

    /// Removes the selected entries. Returns how many there were.
    func remove(_ selection: CacheSelection) -> Result<Int, NetworkError> {
        mutate { state throws(CacheFailure) in
            guard selection == .all else { return try write(&state) { try $0.remove(selection) } }
            let total = try write(&state) { try $0.total() }
            // Removing the whole file is faster, and leaves nothing on disk.
            try state.database.removeAll()
            counts.withLock { ($0.usage.entries, $0.usage.bytes) = (0, 0) }
            return total.entries
        }
    }

    private func mutate<Value: Sendable>(
        _ body: (inout State) throws(CacheFailure) -> Value
    ) -> Result<Value, NetworkError> {
        let result = state.withLock { state -> Result<Value, CacheFailure> in
            do throws(CacheFailure) {
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
    ) throws(CacheFailure) -> Value {
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
        _ failure: CacheFailure, in count: WritableKeyPath<DiskCacheStatistics, Int>
    ) {
        counts.withLock { counts in
            counts.statistics[keyPath: count] += 1
            if failure.kind == .busy { counts.statistics.busy += 1 }
            counts.statistics.lastFailure = failure.networkError
        }
    }
}

/// A failure of the disk cache, with the kind of reaction to it.
struct CacheFailure: Error {
    enum Kind {
        /// Another process holds a lock: try again later.
        case busy
        /// The data on disk is not the written data: replace the database.
        case broken
        /// The database is no longer where it was: open the current one.
        case moved
        /// The system refused the operation.
        case refused
        /// The folder, or a file in it, may come from another user.
        case untrusted
    }

    let kind: Kind
    let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// A system call that failed.
    init(_ call: String, _ code: CInt) {
        self.init(.refused, "\(call): \(unsafe String(cString: strerror(code)))")
    }

    /// Classifies an error of SQLite (https://www.sqlite.org/rescode.html).
    init(_ error: any Error) {
        switch error {
        case let failure as CacheFailure: self = failure
        case let error as DatabaseError:
            // The message contains neither SQL nor arguments, which hold URLs.
            self.init(Self.kind(of: error), "\(error.extendedResultCode): \(error.message ?? "")")
        case is RowDecodingError: self.init(.broken, "a column has another type than was written")
        default: self.init(.refused, "\(error)")
        }
    }

    private static func kind(of error: DatabaseError) -> Kind {
        if error.extendedResultCode == .SQLITE_READONLY_DBMOVED { return .moved }
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL: return .busy
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT: return .broken
        // The statements are correct, so the tables are wrong.
        case .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_SCHEMA, .SQLITE_RANGE:
            return .broken
        default: return .refused
        }
    }

    /// The failure for callers of the store.
    var networkError: NetworkError {
        NetworkError(kind == .untrusted ? .untrustedFile : .file, "disk cache: " + message)
    }
}
#endif
