#if Outbox
import RxHTTP
import RxSQLite
import Synchronization

/// Runs the operations of a store one after another, in the order in which they were added, on a thread that exists
/// while there is work. Changes that wait next to each other share a transaction.
final class OutboxWriter: Sendable {
    /// One change within a transaction that it may share.
    private struct Change: Sendable {
        /// Makes the change, and returns the closure that reports it once it is durable.
        let make: @Sendable (OutboxTable) throws -> @Sendable () -> Void
        let fail: @Sendable (NetworkError) -> Void
    }

    private enum Work: Sendable {
        case change(Change)
        case alone(@Sendable (inout OutboxDatabase) -> @Sendable () -> Void)
    }

    private let thread: WorkThread<Work>

    init(_ database: OutboxDatabase) {
        let transactions = Transactions(database)
        // Without a thread the caller does the work: late, but not lost.
        thread = WorkThread { batch, _ in transactions.perform(batch) }
    }

    /// Adds a change. Returns at once; `report` is called on the thread when the change is durable, or has failed.
    func write<Value: Sendable>(
        _ work: @escaping @Sendable (OutboxTable) throws -> Value,
        _ report: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) {
        thread.add(
            .change(
                Change { table in
                    let value = try work(table)
                    return { report(.success(value)) }
                } fail: {
                    report(.failure($0))
                }))
    }

    /// Adds an operation, which returns the closure that reports its result. Returns at once.
    func run(_ work: @escaping @Sendable (inout OutboxDatabase) -> @Sendable () -> Void) {
        thread.add(.alone(work))
    }

    /// Performs the work with the database.
    private final class Transactions: Sendable {
        private let database: Mutex<OutboxDatabase>
        /// The most changes of one transaction, so that the first does not wait long for the last.
        private static let groupSize = 512

        init(_ database: OutboxDatabase) { self.database = Mutex(database) }

        func perform(_ batch: [Work]) {
            var group: [Change] = []
            for piece in batch {
                switch piece {
                case .change(let change):
                    group.append(change)
                    if group.count >= Self.groupSize { commit(&group) }
                case .alone(let operation):
                    commit(&group)
                    let report = database.withLock { operation(&$0) }
                    report()
                }
            }
            commit(&group)
        }

        private func commit(_ group: inout [Change]) {
            defer { group = [] }
            guard !group.isEmpty else { return }
            do throws(SQLiteFailure) {
                for report in try transaction(group) { report() }
            } catch {
                guard group.count > 1, error.isRefusal else {
                    for change in group { change.fail(error.networkError) }
                    return
                }
                // One of them may be the cause, such as one that is too large.
                for change in group {
                    do throws(SQLiteFailure) {
                        for report in try transaction([change]) { report() }
                    } catch {
                        change.fail(error.networkError)
                    }
                }
            }
        }

        private func transaction(
            _ changes: [Change]
        ) throws(SQLiteFailure) -> [@Sendable () -> Void] {
            let result = database.withLock { database -> Result<[@Sendable () -> Void], SQLiteFailure> in
                do throws(SQLiteFailure) {
                    return .success(try database.write { table in try changes.map { try $0.make(table) } })
                } catch {
                    return .failure(error)
                }
            }
            return try result.get()
        }
    }
}
#endif
