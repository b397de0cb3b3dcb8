#if Outbox
import RxHTTP
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

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

    private struct Queue {
        var waiting: [Work] = []
        var isRunning = false
    }

    private let queue = Mutex(Queue())
    private let database: Mutex<OutboxDatabase>
    /// The most changes of one transaction, so that the first does not wait long for the last.
    private static let groupSize = 512

    init(_ database: OutboxDatabase) { self.database = Mutex(database) }

    /// Adds a change. Returns at once; `report` is called on the thread when the change is durable, or has failed.
    func write<Value: Sendable>(
        _ work: @escaping @Sendable (OutboxTable) throws -> Value,
        _ report: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) {
        add(
            .change(
                Change { table in
                    let value = try work(table)
                    return { report(.success(value)) }
                } fail: {
                    report(.failure($0))
                }))
    }

    /// Adds an operation, which returns the closure that reports its result. Returns at once.
    func run(_ work: @escaping @Sendable (inout OutboxDatabase) -> @Sendable () -> Void) { add(.alone(work)) }

    private func add(_ work: Work) {
        let needsThread = queue.withLock { queue in
            queue.waiting.append(work)
            defer { queue.isRunning = true }
            return !queue.isRunning
        }
        // Without a thread the caller does the work: late, but not lost.
        if needsThread, start() != 0 { drain() }
    }

    private func start() -> CInt {
        #if canImport(Glibc)
        var thread = pthread_t()
        #else
        var thread: pthread_t?
        #endif
        // The new thread takes over this retain; if it cannot be created, the retain is released here.
        let retained = unsafe Unmanaged.passRetained(self)
        let code = unsafe pthread_create(
            &thread, nil,
            { argument in
                #if canImport(Glibc)
                guard let argument = unsafe argument else { return nil }
                #endif
                unsafe Unmanaged<OutboxWriter>.fromOpaque(argument).takeRetainedValue().drain()
                return nil
            }, retained.toOpaque())
        guard code == 0 else {
            unsafe retained.release()
            return code
        }
        #if canImport(Glibc)
        pthread_detach(thread)
        #else
        if let thread { pthread_detach(thread) }
        #endif
        return 0
    }

    private func drain() {
        while true {
            let work = queue.withLock { queue in
                let work = queue.waiting
                queue.waiting = []
                queue.isRunning = !work.isEmpty
                return work
            }
            if work.isEmpty { return }
            var group: [Change] = []
            for piece in work {
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
    }

    private func commit(_ group: inout [Change]) {
        defer { group = [] }
        guard !group.isEmpty else { return }
        do throws(OutboxStoreFailure) {
            for report in try transaction(group) { report() }
        } catch {
            guard group.count > 1, error.kind == .refused else {
                for change in group { change.fail(error.networkError) }
                return
            }
            // One of them may be the cause, such as one that is too large.
            for change in group {
                do throws(OutboxStoreFailure) {
                    for report in try transaction([change]) { report() }
                } catch {
                    change.fail(error.networkError)
                }
            }
        }
    }

    private func transaction(
        _ changes: [Change]
    ) throws(OutboxStoreFailure) -> [@Sendable () -> Void] {
        let result = database.withLock { database -> Result<[@Sendable () -> Void], OutboxStoreFailure> in
            do throws(OutboxStoreFailure) {
                return .success(try database.write { table in try changes.map { try $0.make(table) } })
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
#endif
