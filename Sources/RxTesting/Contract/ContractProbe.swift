import RxLite
import Synchronization

/// Counts living and torn-down objects, and collects the violations of one situation.
final class ContractProbe: Sendable {
    private struct Contents {
        var violations: [ContractViolation] = []
        var values = 0
        var ends: [String] = []
        var isClosed = false
        var sentBeforeClose = 0
        var alive = 0
        var opened = 0
        var torndown = 0
        var sent = 0
    }

    let situation: String
    private let contents = Mutex(Contents())
    private let isInside = Atomic<Bool>(false)

    init(_ situation: String) { self.situation = situation }

    var violations: [ContractViolation] { contents.withLock { $0.violations } }
    var valueCount: Int { contents.withLock { $0.values } }
    var alive: Int { contents.withLock { $0.alive } }
    var sent: Int { contents.withLock { $0.sent } }
    var sentAfterClose: Int { contents.withLock { $0.isClosed ? $0.sent - $0.sentBeforeClose : 0 } }
    /// The number of sources that were started.
    var opened: Int { contents.withLock { $0.opened } }
    var hasEnded: Bool { contents.withLock { !$0.ends.isEmpty } }
    /// Values and end, for comparing two runs.
    var outcome: String { contents.withLock { "\($0.values) values, \($0.ends)" } }
    var untorn: Int { contents.withLock { $0.opened - $0.torndown } }

    func report(_ rule: ContractViolation.Rule, _ detail: String) {
        let violation = ContractViolation(rule: rule, situation: situation, detail: detail)
        contents.withLock { $0.violations.append(violation) }
    }

    // The consumer's side

    /// Runs `body` as one event of the consumer.
    func event(_ body: () -> Void) {
        if isInside.exchange(true, ordering: .acquiringAndReleasing) {
            report(.serial, "an event began while another was being delivered")
        }
        body()
        isInside.store(false, ordering: .releasing)
    }

    func value() {
        let (ended, closed) = contents.withLock { contents in
            contents.values += 1
            return (!contents.ends.isEmpty, contents.isClosed)
        }
        if ended { report(.nothingAfterEnd, "a value came after the end") }
        if closed { report(.silentAfterCancel, "a value came after the cancel") }
    }

    func end(_ completion: String) {
        let (count, closed) = contents.withLock { contents in
            contents.ends.append(completion)
            return (contents.ends.count, contents.isClosed)
        }
        if count > 1 { report(.oneEnd, "end number \(count): \(completion)") }
        if closed { report(.silentAfterCancel, "an end came after the cancel: \(completion)") }
    }

    /// No event may arrive from here on.
    func close() {
        contents.withLock { contents in
            if !contents.isClosed { contents.sentBeforeClose = contents.sent }
            contents.isClosed = true
        }
    }

    // The source's side

    /// Records that a source has started in `scope`, and must be torn down once.
    func open(_ scope: Scope) {
        contents.withLock { $0.opened += 1 }
        let hasRun = Atomic2()
        scope.onClose {
            self.contents.withLock { $0.torndown += 1 }
            if hasRun.exchange() { self.report(.teardownOnce, "a teardown ran twice") }
        }
    }

    func send() { contents.withLock { $0.sent += 1 } }

    func born() { contents.withLock { $0.alive += 1 } }

    func died() { contents.withLock { $0.alive -= 1 } }
}

private final class Atomic2: Sendable {
    private let flag = Atomic<Bool>(false)
    func exchange() -> Bool { flag.exchange(true, ordering: .relaxed) }
}
