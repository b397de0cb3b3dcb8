import FoundationEssentials
public import RxHTTP
public import RxLite
import Synchronization

/// A queue of transfers: by priority, a few at a time, within one bandwidth, to be paused and resumed, and there again after
/// a restart.
///
/// A job is the app's description of a transfer, which can be stored. The queue makes its stream when its turn comes:
///
/// ```swift
/// let queue = TransferQueue<Film>(
///     on: client.transport.scheduler, limit: 2, storedAt: "/var/lib/app/queue.json", in: client.transport.files
/// ) { film, bandwidth in
///     var options = UploadMethod.Options()
///     options.bandwidth = bandwidth
///     return client.upload(
///         .file(film.path), to: .put("/films/{name}", at: ["name": film.name]), by: .resumable(options: options)
///     )
///     .rates()
/// }
/// queue.add(Film(path: path, name: "tea"), priority: .high)
/// queue.items.observable.subscribe { items in list.show(items) }
/// ```
///
/// A paused transfer is cancelled, and goes on from its record when it is resumed; so uploads need records. Thread-safe.
public final class TransferQueue<Job: Codable & Sendable>: Sendable {
    /// The urgency of a transfer. A more urgent one interrupts a less urgent one that runs.
    public enum Priority: Int, Sendable, Comparable, Codable, CaseIterable {
        // The queue's file has the raw values.

        /// After all others.
        case low = 0
        /// The usual one.
        case normal = 1
        /// Before all others.
        case high = 2

        /// Whether the first is less urgent.
        public static func < (first: Priority, second: Priority) -> Bool { first.rawValue < second.rawValue }
    }

    /// The state of a transfer.
    public enum State: Sendable {
        /// It waits for its turn.
        case waiting
        /// It runs.
        case running
        /// It was paused, by itself.
        case paused
        /// It is complete.
        case finished
        /// It failed, and waits to be resumed or removed.
        case failed(NetworkError)
    }

    /// A transfer of the queue.
    public struct Item: Sendable, Identifiable {
        /// Identifies the transfer in this queue, also after a restart.
        public let id: Int
        /// The job that is transferred.
        public let job: Job
        /// The urgency.
        public internal(set) var priority: Priority
        /// The state.
        public internal(set) var state: State = .waiting
        /// The progress, as far as it is known.
        public internal(set) var progress: TransferRate?

        init(id: Int, job: Job, priority: Priority, state: State = .waiting) {
            self.id = id
            self.job = job
            self.priority = priority
            self.state = state
        }

        var isRunning: Bool { if case .running = state { true } else { false } }

        var wantsToRun: Bool {
            switch state {
            case .waiting, .running: true
            case .paused, .finished, .failed: false
            }
        }
    }

    /// All transfers in their order, finished and failed ones until they are removed.
    public var items: Property<[Item]> { Property(core.items) }
    /// The progress of all transfers together. The rate is that of the last ten seconds. The total is `nil` until each transfer
    /// has told its own, so as long as one has never been started.
    public var progress: Property<TransferRate> { Property(core.progress) }
    /// The limit of bytes per second for the queue's transfers, if they use it.
    public let bandwidth: TransferBandwidth
    private let core: QueueCore<Job>

    /// Creates a queue, and restores the transfers of an earlier one from its file.
    ///
    /// - Parameters:
    ///   - scheduler: the scheduler on which the transfers are started.
    ///   - limit: the most transfers that run at the same time. Default 3.
    ///   - bandwidth: the limit of bytes per second. Default none, until one is set.
    ///   - path: the file with the queue; a queue of another process must not use it. Transfers that cannot be decoded are
    ///     kept in a file with the ending `.unreadable` in addition. If the file cannot be read, it stays as it is, and
    ///     adding transfers fails. Default `nil`: the queue ends with its process.
    ///   - files: the file system of `path`. A path without one is a file that cannot be read.
    ///   - reachability: the source of the network's status. Default none: the status is `unknown`.
    ///   - allows: whether a transfer may run with this status of the network, and with all else that the app knows, such as
    ///     a metered connection. A transfer that runs and may not any more is interrupted, and waits. Asked when the status
    ///     changes, on each change of the queue, and on ``reconsider()``. Default: unless there is no network.
    ///   - start: the stream of a transfer, whose values are its progress. Called for each start.
    public init(
        on scheduler: any Scheduler, limit: Int = 3, bandwidth: TransferBandwidth = TransferBandwidth(),
        storedAt path: String? = nil, in files: (any FileSystem)? = nil,
        reachability: (any Reachability)? = nil,
        allows: @escaping @Sendable (Job, NetworkStatus) -> Bool = { _, status in status.isReachable },
        start: @escaping @Sendable (Job, TransferBandwidth) -> Observable<TransferRate, NetworkError>
    ) {
        self.bandwidth = bandwidth
        core = QueueCore(
            on: scheduler, limit: limit, path: path, files: files, reachability: reachability,
            allows: allows, start: { start($0, bandwidth) })
        core.begin()
    }

    deinit { core.stop() }

    /// Adds a transfer at the end.
    ///
    /// - Returns: completes with the identifier once the transfer is in the file, if there is one.
    @discardableResult
    public func add(_ job: Job, priority: Priority = .normal) -> Observable<Int, NetworkError> {
        core.add([job], priority).compactMap(\.first)
    }

    /// Adds transfers at the end, in their order, such as the files of a folder. The queue's file is written once for all.
    ///
    /// - Returns: completes with the identifiers, in the order of the jobs, once all are in the file, if there is one.
    @discardableResult
    public func add(
        contentsOf jobs: some Sequence<Job>, priority: Priority = .normal
    ) -> Observable<[Int], NetworkError> {
        core.add(Array(jobs), priority)
    }

    /// Pauses one transfer.
    public func pause(_ id: Int) {
        core.change(id) { item in if item.wantsToRun { item.state = .paused } }
    }

    /// Resumes a transfer that was paused, or that failed.
    public func resume(_ id: Int) {
        core.change(id) { item in
            switch item.state {
            case .paused, .failed: item.state = .waiting
            case .waiting, .running, .finished: break
            }
        }
    }

    /// Changes the urgency of a transfer.
    public func setPriority(_ priority: Priority, of id: Int) { core.change(id) { $0.priority = priority } }

    /// Moves a transfer before another one of the same urgency, or to the end.
    public func move(_ id: Int, before other: Int? = nil) { core.update { $0.move(id, before: other) } }

    /// Cancels a transfer that runs, and removes it.
    public func remove(_ id: Int) { core.remove(id) }

    /// Pauses the whole queue. The states of the transfers stay, so that ``resumeAll()`` goes on with the same.
    public func pauseAll() { core.update { $0.isPaused = true } }

    /// Ends ``pauseAll()``.
    public func resumeAll() { core.update { $0.isPaused = false } }

    /// Asks again which transfers may run: what the queue's closure knows has changed.
    public func reconsider() { core.reconsider() }

    /// The most transfers that run at the same time.
    public func setLimit(_ limit: Int) { core.update { $0.limit = limit } }
}

/// The running part of a queue.
final class QueueCore<Job: Codable & Sendable>: @unchecked Sendable {
    // Unchecked: the variables are accessed only from inside the scope's lane, which is serial. Debug builds check that.

    typealias Item = TransferQueue<Job>.Item

    let items = MutableProperty<[Item]>([])
    let progress = MutableProperty(TransferRate(bytes: 0))
    private let clock: any Scheduler
    private let path: String?
    private let files: any FileSystem
    private let reachability: (any Reachability)?
    private let allows: @Sendable (Job, NetworkStatus) -> Bool
    private var status = NetworkStatus.unknown
    private var watching: Subscription?
    private let start: @Sendable (Job) -> Observable<TransferRate, NetworkError>
    private let scope: Scope
    private var plan: QueuePlan<Job>
    private var running: [Int: Run] = [:]
    private var lastRun = 0
    private lazy var reporter = RateReporter(on: clock, in: scope) { [progress] in progress.value = $0 }
    private var saver = WriteCoalescer()
    /// Whether the file has been read.
    private var isLoaded = false
    /// Why the file must not be written: it could not be read.
    private var loadError: NetworkError?
    /// The requests that came before the file was read.
    private var pendingWork: [() -> Void] = []

    init(
        on clock: any Scheduler, limit: Int, path: String?, files: (any FileSystem)?,
        reachability: (any Reachability)?, allows: @escaping @Sendable (Job, NetworkStatus) -> Bool,
        start: @escaping @Sendable (Job) -> Observable<TransferRate, NetworkError>
    ) {
        self.clock = clock
        self.path = path
        self.files = files ?? AbsentFileSystem()
        self.reachability = reachability
        self.allows = allows
        self.start = start
        scope = Scope(lane: Lane(scheduler: clock))
        plan = QueuePlan(limit: limit)
    }

    /// A running transfer. The number tells its events from those of an earlier run, which may have been queued in the lane
    /// before the transfer was paused and resumed.
    private struct Run {
        let number: Int
        let subscription: Subscription
    }

    /// The JSON form of a transfer in the queue's file. Files of older releases must stay readable: new properties must be
    /// optional.
    private struct Stored: Codable {
        var id: Int
        var job: Job
        var priority: TransferQueue<Job>.Priority
        var isPaused: Bool
    }

    /// The JSON form of the next transfer's identifier: finished transfers are not in the file, but theirs must not be used
    /// again. Older releases do not write it.
    private struct StoredNext: Codable {
        var nextID: Int
    }

    /// An element of the file's list.
    private enum Entry: Codable {
        case transfer(Stored)
        case next(StoredNext)
        case unreadable

        init(from decoder: any Decoder) {
            // An identifier in a damaged file must leave room for further ones.
            if let stored = try? Stored(from: decoder), stored.id < 1 << 62 {
                self = .transfer(stored)
            } else {
                self = (try? StoredNext(from: decoder)).map(Self.next) ?? .unreadable
            }
        }

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .transfer(let stored): try stored.encode(to: encoder)
            case .next(let next): try next.encode(to: encoder)
            case .unreadable: break
            }
        }

        var isUnreadable: Bool { if case .unreadable = self { true } else { false } }
    }

    // MARK: - Start and end

    func begin() {
        scope.enter {
            self.scope.onClose {
                let running = self.running.sorted { $0.key < $1.key }.map(\.value)
                self.running = [:]
                self.watching?.cancel()
                for run in running { run.subscription.cancel() }
            }
            self.watch()
            guard let path = self.path else { return self.load([]) }
            _ = self.files.contents(of: path, limit: 64 << 20).observe(
                onNext: { bytes in self.scope.enter { self.read(bytes, of: path) } },
                onEnd: { completion in
                    if case .failed(let error) = completion { self.scope.enter { self.load([], error) } }
                })
        }
    }

    /// Follows the status of the network.
    private func watch() {
        guard let reachability else { return }
        status = reachability.status
        watching = reachability.statuses.observe(
            onNext: { status in
                self.scope.enter {
                    self.status = status
                    if self.isLoaded { self.advance(isChanged: false) }
                }
            }, onEnd: { _ in })
    }

    func reconsider() { enter { self.advance(isChanged: false) } }

    /// Takes over the transfers of the file. If some cannot be decoded, the file is copied behind earlier ones before it is
    /// replaced.
    private func read(_ bytes: [UInt8]?, of path: String) {
        guard let bytes else { return load([]) }
        let entries = (try? JSONDecoder().decode([Entry].self, from: Data(bytes))) ?? [.unreadable]
        guard entries.contains(where: \.isUnreadable) else { return load(entries) }
        let copy = path + ".unreadable"
        let copied: Observable<Int64, NetworkError> = files.status(of: copy).flatMap(.concat) { status in
            self.files.append(.just(bytes), to: copy, at: status?.size ?? 0)
        }
        _ = copied.observe(onNext: { _ in }) { completion in
            self.scope.enter {
                switch completion {
                case .finished: self.load(entries, isChanged: true)
                case .failed(let error): self.load(entries, error)
                }
            }
        }
    }

    private func load(_ entries: [Entry], _ error: NetworkError? = nil, isChanged: Bool = false) {
        guard !isLoaded else { return }
        isLoaded = true
        loadError = error
        var items: [Item] = []
        var nextID = 1
        for entry in entries {
            switch entry {
            case .transfer(let stored):
                items.append(
                    Item(
                        id: stored.id, job: stored.job, priority: stored.priority,
                        state: stored.isPaused ? .paused : .waiting))
            // A number that a damaged file has must leave room for further ones.
            case .next(let next): nextID = min(next.nextID, 1 << 62)
            case .unreadable: break
            }
        }
        plan = QueuePlan(limit: plan.limit, restoring: items, nextID: nextID)
        let pendingWork = pendingWork
        self.pendingWork = []
        for work in pendingWork { work() }
        advance(isChanged: isChanged)
    }

    func stop() { scope.cancel() }

    /// Runs work in the lane, after the file has been read.
    private func enter(_ work: @escaping @Sendable () -> Void) {
        scope.enter {
            if self.isLoaded { work() } else { self.pendingWork.append(work) }
        }
    }

    // MARK: - Changes

    func add(_ jobs: [Job], _ priority: TransferQueue<Job>.Priority) -> Observable<[Int], NetworkError> {
        let added = MutableProperty<Result<[Int], NetworkError>?>(nil)
        enter {
            let ids = jobs.map { self.plan.add($0, priority) }
            self.advance(isChanged: !jobs.isEmpty)
            self.whenSaved { result in added.value = result.map { ids } }
        }
        return added.observable.compactMap { $0 }.take(1).setFailureType(to: NetworkError.self)
            .map { result throws(NetworkError) in try result.get() }
    }

    func change(_ id: Int, _ change: @escaping @Sendable (inout Item) -> Void) {
        update { plan in _ = plan.change(id, change) }
    }

    func update(_ change: @escaping @Sendable (inout QueuePlan<Job>) -> Void) {
        enter {
            change(&self.plan)
            self.advance(isChanged: true)
        }
    }

    func remove(_ id: Int) {
        enter {
            self.running.removeValue(forKey: id)?.subscription.cancel()
            self.plan.remove(id)
            self.advance(isChanged: true)
        }
    }

    /// Starts and stops transfers as the plan says, and publishes and stores it.
    private func advance(isChanged: Bool) {
        scope.lane.assertInside()
        let (stopped, started) = plan.schedule { [status, allows] job in allows(job, status) }
        for id in stopped { running.removeValue(forKey: id)?.subscription.cancel() }
        // Those that were paused while they ran; the plan does not count them as stopped.
        for item in plan.items where !item.wantsToRun {
            running.removeValue(forKey: item.id)?.subscription.cancel()
        }
        publish()
        if isChanged { save() }
        for id in started { run(id) }
    }

    private func run(_ id: Int) {
        guard let job = plan.item(id)?.job else { return }
        lastRun += 1
        let number = lastRun
        let subscription = start(job).observe(
            onNext: { rate in self.scope.enter { self.take(rate, of: id, in: number) } },
            onEnd: { completion in self.scope.enter { self.end(id, in: number, completion) } })
        running[id] = Run(number: number, subscription: subscription)
    }

    private func take(_ rate: TransferRate, of id: Int, in run: Int) {
        scope.lane.assertInside()
        guard running[id]?.number == run else { return }
        plan.change(id) { $0.progress = rate }
        publish()
    }

    private func end(_ id: Int, in run: Int, _ completion: Completion<NetworkError>) {
        guard running[id]?.number == run else { return }
        running[id] = nil
        plan.change(id) { item in
            switch completion {
            case .finished: item.state = .finished
            case .failed(let error): item.state = .failed(error)
            }
        }
        advance(isChanged: true)
    }

    private func publish() {
        items.value = plan.items
        let (bytes, expected) = plan.total
        reporter.report(bytes, of: expected)
    }

    // MARK: - The file

    private func whenSaved(_ report: @escaping @Sendable (Result<Void, NetworkError>) -> Void) {
        guard path != nil else { return report(.success(())) }
        if let loadError { return report(.failure(loadError)) }
        let saved = Observable<Void, NetworkError>.create { emitter in
            self.scope.enter {
                // After a failed write, or a change that could not be encoded, nobody else writes.
                if self.saver.wait(emitter) { self.write() } else { emitter.finish() }
            }
        }
        _ = saved.observe(onNext: { _ in }) { completion in
            switch completion {
            case .finished: report(.success(()))
            case .failed(let error): report(.failure(error))
            }
        }
    }

    private func save() {
        guard path != nil, loadError == nil else { return }
        saver.recordChange(isUrgent: true)
        write()
    }

    private func write() {
        guard let path, let change = saver.beginWriting() else { return }
        var entries = plan.items.compactMap { item -> Entry? in
            var isPaused = false
            switch item.state {
            case .finished: return nil
            // After a restart, too, only `resume(_:)` starts it again.
            case .paused, .failed: isPaused = true
            case .waiting, .running: break
            }
            return .transfer(
                Stored(id: item.id, job: item.job, priority: item.priority, isPaused: isPaused))
        }
        entries.append(.next(StoredNext(nextID: plan.nextID)))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let bytes: [UInt8]
        do { bytes = Array(try encoder.encode(entries)) } catch {
            return finish(
                change, .failed(NetworkError(.file, "a job of the queue cannot be encoded: \(error)")))
        }
        _ = files.replace(path, with: bytes).observe(onNext: { _ in }) { completion in
            self.scope.enter { self.finish(change, completion) }
        }
    }

    private func finish(_ change: Int, _ completion: Completion<NetworkError>) {
        var isSaved = false
        if case .finished = completion { isSaved = true }
        for waiter in saver.endWriting(change, isSaved: isSaved) {
            if case .failed(let error) = completion { waiter.fail(error) } else { waiter.finish() }
        }
        // Changes that came meanwhile; a failed write is repeated with the next change.
        if saver.isDue, saver.isAwaited { write() }
    }
}

extension Observable {
    /// The progress of an upload, for a ``TransferQueue``.
    public func rates<Output>() -> Observable<TransferRate, Failure> where Element == UploadEvent<Output> {
        compactMap { event in if case .progress(let rate) = event { rate } else { nil } }
    }
}

extension Observable where Element == PartedDownload.Event {
    /// The progress of a download, for a ``TransferQueue``.
    public func rates() -> Observable<TransferRate, Failure> {
        compactMap { event in if case .progress(let rate) = event { rate } else { nil } }
    }
}
