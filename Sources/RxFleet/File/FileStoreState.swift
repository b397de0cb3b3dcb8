#if Fleet
import FoundationEssentials
import RxClient
import RxHTTP
import RxLite
import RxSQLite

/// The work of a file store on its thread: commands, its leases, its place in the queues for others, and its subscriptions.
///
/// Methods block. Events for subscribers wait in ``reports``: after each change the caller makes the calls of
/// ``takeReports()`` without a lock, and again after ``settle()`` if the state is unsettled.
struct FileStoreState {
    /// A request of this store for a lease: waiting while `held` is `nil`.
    private struct LeaseRequest {
        let name: String
        let time: Duration
        let emitter: Emitter<SharedLease, NetworkError>
        var held: HeldLease?
    }

    /// A lease that this store holds and extends at `extendAt`.
    private struct HeldLease {
        let lease: SharedLease
        /// When the lease ends if it is not extended.
        var end: Duration
        var extendAt: Duration
    }

    private let folder: SQLiteFolder
    private let clock: StoreClock
    private let checkInterval: Duration
    private var database: StoreDatabase
    private var members: StoreMembers?
    private var requests: [Int64: LeaseRequest] = [:]
    /// When to look at a lease that a request waits for, if nothing happens before.
    private var nextAttempts: [String: Duration] = [:]
    private var subscriptions: [Int64: (channel: String, emitter: Emitter<SharedMessage, Never>)] = [:]
    private var isConnected = false
    /// The number of the last message that was delivered.
    private var lastMessage: Int64 = 0
    /// When to look for changes of which the kernel did not tell, as long as somebody waits or listens.
    private var nextCheck: Duration = .zero
    /// Whether something may have changed.
    private var hasNews = false
    /// When to find out whether another store has ended. The kernel announces the end of a process shortly before it
    /// unlocks its files.
    private var endChecks: [Duration] = []
    private var isClosed = false
    /// Calls to make without a lock.
    private(set) var reports: [@Sendable () -> Void] = []
    /// Calls to make once the disk has what must last, or with the reason why not.
    private var lastingReports: [@Sendable (NetworkError?) -> Void] = []

    init(
        _ folder: SQLiteFolder, clock: StoreClock, checkInterval: Duration, durability: FileStore.Durability,
        disk: StoreDisk
    ) {
        self.folder = folder
        self.clock = clock
        self.checkInterval = checkInterval
        database = StoreDatabase(folder, clock, durability, disk)
    }

    mutating func takeReports() -> [@Sendable () -> Void] {
        defer { reports = [] }
        return reports
    }

    /// Adds a call to ``reports``. An emitter called at once would run the app's code inside the lock of the thread.
    mutating func report(_ call: @escaping @Sendable () -> Void) { reports.append(call) }

    mutating func reportLasting(_ call: @escaping @Sendable (NetworkError?) -> Void) {
        lastingReports.append(call)
    }

    /// Whether reports wait for the disk.
    var isUnsettled: Bool { !lastingReports.isEmpty }

    /// Waits for the disk, once for all changes that must last.
    mutating func settle() {
        guard isUnsettled else { return }
        var failure: NetworkError?
        do throws(SQLiteFailure) { try database.sync() } catch { failure = error.networkError }
        let error = failure
        for call in lastingReports { reports.append { call(error) } }
        lastingReports = []
    }

    /// Announces what happens in the folder; `nil` before it is opened.
    var watch: FolderWatch? { members?.watch }

    // MARK: - Commands

    mutating func read<Value>(_ body: (StoreTable) throws -> Value) throws(NetworkError) -> Value {
        try perform { state throws(SQLiteFailure) in try state.database.read(body) }
    }

    mutating func write<Value>(
        isLasting: Bool = false, _ body: (StoreTable) throws -> Value
    ) throws(NetworkError) -> Value {
        try perform { state throws(SQLiteFailure) in try state.database.write(isLasting: isLasting, body) }
    }

    mutating func publish(_ message: [UInt8], to channel: String) throws(NetworkError) {
        try write { try $0.publish(message, to: channel) }
        wake()
    }

    private mutating func perform<Value>(
        _ body: (inout Self) throws(SQLiteFailure) -> Value
    ) throws(NetworkError) -> Value {
        guard !isClosed else {
            throw NetworkError(.shutDown, "the file store \(folder.path) has been closed")
        }
        do throws(SQLiteFailure) {
            try enter()
            return try body(&self)
        } catch { throw error.networkError }
    }

    /// Opens the database, and enters this store among those that use the folder.
    private mutating func enter() throws(SQLiteFailure) {
        guard members == nil else { return }
        try database.open()
        do {
            let members = try StoreMembers(in: folder)
            self.members = members
            try remove(members.others())
        } catch { throw SQLiteFailure(error) }
        nextCheck = clock.now() + checkInterval
    }

    private mutating func wake() {
        members?.wake()
        hasNews = true
    }

    // MARK: - Leases

    mutating func request(
        _ number: Int64, _ name: String, for time: Duration, _ emitter: Emitter<SharedLease, NetworkError>
    ) {
        do throws(NetworkError) {
            try perform { state throws(SQLiteFailure) in
                // First: `tryAcquire` reads the time and the emitter of the request there.
                state.requests[number] = LeaseRequest(name: name, time: time, emitter: emitter)
                try state.tryAcquire(name, entering: number)
            }
        } catch {
            requests[number] = nil
            report { emitter.fail(error) }
        }
    }

    /// The subscription of a request has ended.
    mutating func release(_ number: Int64) {
        guard let request = requests.removeValue(forKey: number), let members else { return }
        do throws(SQLiteFailure) {
            try database.write(isLasting: false) { table in
                let leases = LeaseTable(db: table.db, now: table.now)
                if let held = request.held {
                    try leases.release(held.lease, of: members.id)
                } else {
                    try leases.leave(request.name, members.id, number)
                }
            }
            wake()
        } catch {
            // It ends by itself, since it is not extended any more.
        }
    }

    /// Takes a lease if it is free and the turn of a request of this store.
    private mutating func tryAcquire(_ name: String, entering number: Int64? = nil) throws(SQLiteFailure) {
        guard let id = members?.id else { return }
        if number == nil {
            // Those whose turn it is not, write nothing.
            let turn = try database.read { try LeaseTable(db: $0.db, now: $0.now).turn(of: id, for: name) }
            if case .later(_, wasLate: true) = turn {
                try database.write(isLasting: false) {
                    try LeaseTable(db: $0.db, now: $0.now).awake(name, id)
                }
            }
            guard case .now = turn else { return wait(for: name, turn) }
        }
        let requests = requests
        let (taken, next) = try database.write(isLasting: false) {
            table -> ((request: Int64, fence: UInt64, now: Int64)?, LeaseTable.Turn?) in
            let leases = LeaseTable(db: table.db, now: table.now)
            if let number { try leases.enter(name, id, number) }
            let turn = try leases.turn(of: id, for: name)
            guard case .now(let waiter, let request) = turn else { return (nil, turn) }
            // One whose subscription has ended, but could not be removed, holds the lease for no time.
            let time = requests[request]?.time.storedNanoseconds ?? 0
            let fence = try leases.take(name, for: id, number: waiter, request: request, time: time)
            return ((request, fence, table.now), try leases.turn(of: id, for: name))
        }
        wait(for: name, next)
        guard let taken, let request = requests[taken.request] else { return }
        let lease = SharedLease(name: name, fence: taken.fence)
        let start = Duration.nanoseconds(taken.now)
        self.requests[taken.request]?.held = HeldLease(
            lease: lease, end: start + request.time, extendAt: start + request.time / 3)
        report { request.emitter.send(lease) }
    }

    private mutating func wait(for name: String, _ turn: LeaseTable.Turn?) {
        switch turn {
        case nil: nextAttempts[name] = nil
        case .now: nextAttempts[name] = clock.now()
        case .later(let time, _): nextAttempts[name] = .nanoseconds(time)
        }
    }

    private mutating func tryAcquireAll(_ names: some Sequence<String>) {
        for name in names {
            do throws(SQLiteFailure) { try tryAcquire(name) } catch {
                if error.kind == .busy {
                    nextAttempts[name] = clock.now() + min(checkInterval, .milliseconds(200))
                } else {
                    fail(error, where: { $0.name == name && $0.held == nil })
                }
            }
        }
    }

    private mutating func fail(_ failure: SQLiteFailure, where isMet: (LeaseRequest) -> Bool) {
        for (number, request) in requests where isMet(request) {
            requests[number] = nil
            let error = failure.networkError
            report { request.emitter.fail(error) }
        }
        let waiting = Set(requests.values.filter { $0.held == nil }.map(\.name))
        nextAttempts = nextAttempts.filter { waiting.contains($0.key) }
    }

    private mutating func extend(
        _ number: Int64, _ request: LeaseRequest, _ held: HeldLease, at now: Duration
    ) {
        guard let id = members?.id else { return }
        let time = request.time
        do throws(SQLiteFailure) {
            let extended = try database.write(isLasting: false) { table -> Int64? in
                let leases = LeaseTable(db: table.db, now: table.now)
                return try leases.extend(held.lease, of: id, for: time.storedNanoseconds) ? table.now : nil
            }
            if let extended {
                let start = Duration.nanoseconds(extended)
                requests[number]?.held = HeldLease(
                    lease: held.lease, end: start + time, extendAt: start + time / 3)
                return
            }
        } catch {
            guard held.end <= clock.now() else {
                requests[number]?.held?.extendAt = now + time / 10
                return
            }
        }
        requests[number] = nil
        report {
            request.emitter.fail(
                NetworkError(
                    .superseded,
                    "the lease of \(held.lease.name) has ended: this process has not extended it in time"))
        }
    }

    /// Ends the leases and the waiting of stores whose process has ended.
    private mutating func remove(_ stores: some Sequence<String>) throws(SQLiteFailure) {
        guard let members else { return }
        for store in stores where members.hasEnded(store) {
            try database.write(isLasting: false) { table in
                try LeaseTable(db: table.db, now: table.now).remove(store)
            }
            members.remove(store)
            wake()
        }
    }

    private mutating func removeEnded(waitedForBy names: Set<String>) {
        guard let id = members?.id else { return }
        // What fails now is done at the next check.
        try? remove(
            database.read { table in
                let leases = LeaseTable(db: table.db, now: table.now)
                return try names.reduce(into: Set<String>()) {
                    try $0.formUnion(leases.others(for: $1, than: id))
                }
            })
    }

    // MARK: - Messages

    mutating func subscribe(
        _ number: Int64, to channel: String, _ emitter: Emitter<SharedMessage, Never>
    ) {
        // What was sent before is for the earlier subscribers only.
        deliver()
        let isFirst = subscriptions.isEmpty
        subscriptions[number] = (channel, emitter)
        if isFirst {
            connect()
        } else {
            let isConnected = isConnected
            report { emitter.send(isConnected ? .connected : .disconnected) }
        }
    }

    mutating func unsubscribe(_ number: Int64) {
        subscriptions[number] = nil
        if subscriptions.isEmpty { isConnected = false }
    }

    /// Begins with the messages from now on.
    private mutating func connect() {
        do throws(NetworkError) {
            lastMessage = try read { try $0.lastMessage() }
            isConnected = true
        } catch { isConnected = false }
        send(isConnected ? .connected : .disconnected)
    }

    private mutating func send(_ message: SharedMessage, to channel: String? = nil) {
        for (_, subscription) in subscriptions.sorted(by: { $0.key < $1.key })
        where channel == nil || subscription.channel == channel {
            report { subscription.emitter.send(message) }
        }
    }

    /// Delivers the messages since the last time.
    private mutating func deliver() {
        guard !subscriptions.isEmpty else { return }
        guard isConnected else {
            // Not again to those who know.
            guard let last = try? read({ try $0.lastMessage() }) else { return }
            (lastMessage, isConnected) = (last, true)
            return send(.connected)
        }
        while true {
            let last = lastMessage
            let found: [StoreTable.Message]?
            do throws(NetworkError) { found = try read { try $0.messages(after: last) } } catch {
                // Another process may be writing for a long time; nothing is lost by that.
                guard error.code != .locked else { return }
                isConnected = false
                return send(.disconnected)
            }
            guard let found else {
                // This process was too slow, or was stopped.
                send(.disconnected)
                return connect()
            }
            for message in found { send(.message(message.bytes), to: message.channel) }
            lastMessage = found.last?.number ?? last
            guard found.count == StoreTable.batchSize else { return }
        }
    }

    // MARK: - Turns of the thread

    /// Does what is due, and what the news ask for.
    mutating func serve(_ news: FolderWatch.News) {
        guard !isClosed else { return }
        let now = clock.now()
        let waiting = Set(requests.values.filter { $0.held == nil }.map(\.name))
        if news.isClosed, !waiting.isEmpty {
            endChecks = [now, now + .milliseconds(20), now + .milliseconds(250)]
        }
        var isCheck = false
        if nextCheck <= now, !waiting.isEmpty || !subscriptions.isEmpty {
            (isCheck, nextCheck) = (true, now + checkInterval)
        }
        if isCheck || endChecks.contains(where: { $0 <= now }) {
            endChecks.removeAll { $0 <= now }
            removeEnded(waitedForBy: waiting)
        }
        for (number, request) in requests {
            if let held = request.held, held.extendAt <= now { extend(number, request, held, at: now) }
        }
        if isCheck || news.isWritten || hasNews {
            hasNews = false
            deliver()
            tryAcquireAll(waiting.sorted())
        } else {
            tryAcquireAll(nextAttempts.filter { $0.value <= now }.keys.sorted())
        }
    }

    /// When there is something to do, if nothing happens before.
    var deadline: Duration? {
        guard !isClosed else { return nil }
        if hasNews { return clock.now() }
        var times = requests.values.compactMap { $0.held?.extendAt } + nextAttempts.values + endChecks
        // As `serve(_:)` decides whether to check: a time that it does not move on would be due for ever. An attempt may be
        // left of a request that waits no more.
        if !subscriptions.isEmpty || requests.values.contains(where: { $0.held == nil }) {
            times.append(nextCheck)
        }
        return times.min()
    }

    /// Returns the leases, and closes the files. In this order: ``settle()`` needs the log, which the last connection
    /// removes, and ``release(_:)`` does nothing without ``members``.
    mutating func close() {
        settle()
        for number in requests.keys.sorted() {
            let request = requests[number]
            release(number)
            let error = NetworkError(.shutDown, "the file store \(folder.path) has been closed")
            if let request { report { request.emitter.fail(error) } }
        }
        send(.disconnected)
        subscriptions = [:]
        nextAttempts = [:]
        members?.leave()
        members = nil
        database.close()
        isClosed = true
    }
}
#endif
