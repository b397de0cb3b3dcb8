import RxHTTP
import RxLite

/// The order of a queue of transfers: which of them run, wait or are paused. Pure.
struct QueuePlan<Job: Codable & Sendable>: Sendable {
    typealias Item = TransferQueue<Job>.Item

    /// All transfers, in the order in which they were added or moved.
    private(set) var items: [Item] = []
    /// The most transfers that run at the same time.
    var limit: Int
    /// Whether nothing is to run.
    var isPaused = false
    /// The identifier of the next transfer.
    private(set) var nextID = 1

    init(limit: Int) { self.limit = limit }

    init(limit: Int, restoring items: [Item], nextID: Int) {
        self.limit = limit
        self.items = items
        self.nextID = max(nextID, (items.map(\.id).max() ?? 0) + 1)
    }

    func item(_ id: Int) -> Item? { items.first { $0.id == id } }

    mutating func add(_ job: Job, _ priority: TransferQueue<Job>.Priority) -> Int {
        defer { nextID += 1 }
        items.append(Item(id: nextID, job: job, priority: priority))
        return nextID
    }

    /// Changes a transfer; false if it is not there.
    @discardableResult
    mutating func change(_ id: Int, _ change: (inout Item) -> Void) -> Bool {
        guard let index = items.firstIndex(where: { $0.id == id }) else { return false }
        change(&items[index])
        return true
    }

    @discardableResult
    mutating func remove(_ id: Int) -> Bool {
        guard let index = items.firstIndex(where: { $0.id == id }) else { return false }
        items.remove(at: index)
        return true
    }

    /// Moves a transfer before another one, or to the end.
    mutating func move(_ id: Int, before other: Int?) {
        guard let index = items.firstIndex(where: { $0.id == id }), id != other else { return }
        let item = items.remove(at: index)
        let target = other.flatMap { other in items.firstIndex { $0.id == other } } ?? items.endIndex
        items.insert(item, at: target)
    }

    /// The transfers to stop and those to start, so that the most urgent ones run. Among equals one that runs goes on, and
    /// the order decides the rest.
    ///
    /// - Parameter allows: whether a transfer may run now. Others wait.
    mutating func schedule(allows: (Job) -> Bool = { _ in true }) -> (stopped: [Int], started: [Int]) {
        let candidates = items.enumerated().filter { $0.element.wantsToRun && allows($0.element.job) }
            .sorted { first, second in
                let (one, other) = (first.element, second.element)
                if one.priority != other.priority { return one.priority > other.priority }
                if one.isRunning != other.isRunning { return one.isRunning }
                return first.offset < second.offset
            }
        let chosen = Set(isPaused ? [] : candidates.prefix(max(0, limit)).map(\.element.id))
        var (stopped, started): ([Int], [Int]) = ([], [])
        for index in items.indices {
            let isChosen = chosen.contains(items[index].id)
            if items[index].isRunning, !isChosen {
                stopped.append(items[index].id)
                if items[index].wantsToRun { items[index].state = .waiting }
            } else if !items[index].isRunning, isChosen {
                started.append(items[index].id)
                items[index].state = .running
            }
        }
        return (stopped, started)
    }

    /// The progress of all transfers together, finished ones included; the total is known once each one's is, unless it is
    /// too large for a number.
    var total: (bytes: Int64, expected: Int64?) {
        var (bytes, expected): (Int64, Int64?) = (0, 0)
        for item in items {
            if case .failed = item.state { continue }
            bytes = Self.sum(bytes, item.progress?.bytes ?? 0) ?? .max
            expected = expected.flatMap { sum in item.progress?.expected.flatMap { Self.sum(sum, $0) } }
        }
        return (bytes, expected)
    }

    /// The sum; `nil` if it is too large for a number.
    private static func sum(_ first: Int64, _ second: Int64) -> Int64? {
        let (sum, isOver) = first.addingReportingOverflow(second)
        return isOver ? nil : sum
    }
}
