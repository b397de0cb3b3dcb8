#if Outbox
import Foundation
import RxHTTP
import RxTesting
import Testing

@testable import RxOutbox

/// The order of the entries and the times of their attempts.
@Suite struct DeliveryPlanTests {
    private static let start = Date(timeIntervalSince1970: 1_000_000)
    private static let failure = WaitReason.failure(OutboxFailure(NetworkError(.connect, "")))

    private func entry(
        _ number: Int, order: OutboxOrder? = nil, topic: String? = nil,
        guarantee: DeliveryGuarantee? = nil, expires: Double? = nil, account: String? = nil
    ) -> OutboxEntry {
        OutboxEntry(
            id: OutboxID(rawValue: "\(number)"),
            OutboxEntry.Terms(
                name: "n", version: 1, guarantee: guarantee ?? .key("k\(number)", .stripe), order: order,
                topic: topic, account: account, created: Self.start,
                expires: expires.map { Self.start + $0 }),
            sequence: Int64(number))
    }

    private func plan(_ entries: [OutboxEntry], concurrency: Int = 10) -> DeliveryPlan {
        var plan = DeliveryPlan(
            schedule: OutboxSchedule(first: .seconds(10), jitter: 0), concurrency: concurrency)
        for entry in entries { plan.insert(entry) }
        return plan
    }

    /// The steps that are due, as text.
    private func steps(_ plan: inout DeliveryPlan, at seconds: Double = 0, account: String? = nil) -> [String]
    {
        var steps: [String] = []
        // A plan that goes on for ever fails a test, and does not stop it.
        while steps.count < 1000, let step = plan.next(at: Self.start + seconds, account: account) {
            switch step {
            case .send(let entry, _): steps.append("send \(entry.id)")
            case .bury(let entry):
                steps.append("bury \(entry.id): \(entry.delivery.deadReason.map { "\($0)" } ?? "alive")")
            case .hold(let entry): steps.append("hold \(entry.id)")
            }
        }
        return steps
    }

    private func id(_ number: Int) -> OutboxID { OutboxID(rawValue: "\(number)") }

    private func deliver(_ plan: inout DeliveryPlan, _ number: Int) {
        #expect(plan.succeed(id(number)) == .delivered)
        plan.remove(id(number))
    }

    private func fail(
        _ plan: inout DeliveryPlan, _ number: Int, _ verdict: DeliveryRules.Verdict, arrived: Bool = true,
        at seconds: Double = 0
    ) {
        let settlement = plan.fail(
            id(number), verdict, mayHaveArrived: arrived, at: Self.start + seconds, random: 0)
        guard case .stored(let entry) = settlement else {
            Issue.record("\(number) was not being sent")
            return
        }
        plan.settle(entry)
    }

    /// Independent entries are sent in parallel, in their order, up to the limit.
    @Test func parallel() {
        var plan = plan((1...5).map { entry($0) }, concurrency: 3)
        #expect(steps(&plan) == ["send 1", "send 2", "send 3"])
        #expect(plan.wakeTime(isOnline: true) == nil)
        deliver(&plan, 2)
        #expect(steps(&plan) == ["send 4"])
        fail(&plan, 1, .again(Self.failure, notBefore: nil))
        #expect(steps(&plan) == ["send 5"])
        deliver(&plan, 3)
        #expect(plan.wakeTime(isOnline: true) == Self.start + 10)
        #expect(steps(&plan, at: 10) == ["send 1"])
    }

    /// Entries of one order are sent one after another, whatever happens to the first.
    @Test func inOrder() {
        var plan = plan([
            entry(1, order: "a"), entry(2, order: "a"), entry(3, order: "b"), entry(4, order: "a"),
        ])
        #expect(steps(&plan) == ["send 1", "send 3"])
        fail(&plan, 1, .again(Self.failure, notBefore: .seconds(100)))
        #expect(steps(&plan, at: 99) == [])
        #expect(steps(&plan, at: 100) == ["send 1"])
        deliver(&plan, 1)
        #expect(steps(&plan, at: 100) == ["send 2"])
        deliver(&plan, 2)
        #expect(steps(&plan, at: 100) == ["send 4"])
    }

    /// An entry that arrives late in the store is sent in the place of its sequence number.
    @Test func lateArrival() {
        var plan = plan([entry(2, order: "a"), entry(1, order: "a")])
        #expect(steps(&plan) == ["send 1"])
    }

    /// A dead entry blocks its order, or releases it, as chosen.
    @Test func deadEntries() {
        let dead = DeliveryRules.Verdict.dead(.refused(OutboxFailure(NetworkError(.status, ""))))
        var plan = plan([
            entry(1, order: "a"), entry(2, order: "a"),
            entry(3, order: OutboxOrder("b", afterDeath: .release)),
            entry(4, order: OutboxOrder("b", afterDeath: .release)),
        ])
        #expect(steps(&plan) == ["send 1", "send 3"])
        fail(&plan, 1, dead)
        fail(&plan, 3, dead)
        #expect(steps(&plan) == ["send 4"])
        #expect(plan.counts.dead == 2 && plan.counts.queued == 1)
        // Removing the dead one releases those behind it; reviving it puts it in front of them.
        plan.remove(id(1))
        #expect(steps(&plan) == ["send 2"])
        plan.insert(entry(3, order: OutboxOrder("b", afterDeath: .release)))
        #expect(steps(&plan) == [])
        deliver(&plan, 4)
        #expect(steps(&plan) == ["send 3"])
    }

    /// Entries of one topic are never sent at the same time.
    @Test func topics() {
        var plan = plan([entry(1, topic: "t"), entry(2, topic: "t"), entry(3, topic: "u")])
        #expect(steps(&plan) == ["send 1", "send 3"])
        deliver(&plan, 1)
        #expect(steps(&plan) == ["send 2"])
    }

    /// After the life of its key an entry is not sent again.
    @Test func keyLife() {
        var plan = plan([entry(1)])
        #expect(steps(&plan) == ["send 1"])
        fail(&plan, 1, .again(Self.failure, notBefore: .seconds(48 * 3600)))
        let end = 24.0 * 3600 - 60
        #expect(plan.wakeTime(isOnline: true) == Self.start + end)
        #expect(steps(&plan, at: end - 1) == [])
        let steps = steps(&plan, at: end)
        #expect(steps.count == 1 && steps[0].hasPrefix("bury 1: it may have been executed"))
    }

    /// The life of a key begins with the first attempt that may have arrived.
    @Test func keyLifeBegins() {
        var plan = plan([entry(1)])
        #expect(steps(&plan) == ["send 1"])
        fail(&plan, 1, .again(Self.failure, notBefore: nil), arrived: false)
        let week = 7 * 24 * 3600.0
        #expect(steps(&plan, at: week) == ["send 1"])
        fail(&plan, 1, .again(Self.failure, notBefore: nil), at: week)
        #expect(plan.entries[id(1)]?.delivery.mayHaveArrivedSince == Self.start + week)
        // A later attempt that certainly did not arrive does not change that.
        #expect(steps(&plan, at: week + 60) == ["send 1"])
        fail(&plan, 1, .again(Self.failure, notBefore: nil), arrived: false, at: week + 60)
        #expect(plan.entries[id(1)]?.delivery.mayHaveArrivedSince == Self.start + week)
    }

    /// An entry expires while it waits, behind another one and without a network, but not during an attempt.
    @Test func expiry() {
        var plan = plan([
            entry(1, order: "a", expires: 100), entry(2, order: "a", expires: 50), entry(3, expires: 60),
        ])
        #expect(steps(&plan) == ["send 1", "send 3"])
        #expect(plan.wakeTime(isOnline: false) == Self.start + 50)
        fail(&plan, 3, .again(Self.failure, notBefore: .seconds(1000)))
        #expect(steps(&plan, at: 50) == ["bury 2: not delivered in time"])
        let reason = "not delivered in time; last: connect"
        #expect(steps(&plan, at: 70) == ["bury 3: \(reason)"])
        #expect(steps(&plan, at: 200) == [])
        fail(&plan, 1, .again(Self.failure, notBefore: nil), at: 200)
        #expect(steps(&plan, at: 200) == ["bury 1: \(reason)"])
    }

    /// The next expiry is the earliest of the entries that are left, in whichever order they leave.
    @Test(arguments: 0..<4)
    func expiries(seed: Int) {
        var random = SeededRandom(UInt64(seed))
        var left = (1...1000).map { (number: $0, expires: Double($0 / 2)) }
        var plan = plan(left.shuffled(using: &random).map { entry($0.number, expires: $0.expires) })
        while let first = left.first {
            #expect(plan.wakeTime(isOnline: false) == Self.start + first.expires)
            let index = Int.random(in: 0..<min(left.count, seed % 2 == 0 ? 20 : 1000), using: &random)
            plan.remove(id(left.remove(at: index).number))
        }
        #expect(plan.wakeTime(isOnline: false) == nil && plan.counts == OutboxCounts())
    }

    /// An entry that was being sent when a process ended is sent at once, or dead if it must not arrive twice.
    @Test func interrupted() {
        var sending = [
            entry(1), entry(2, guarantee: .atLeastOnce), entry(3, guarantee: .atMostOnce),
        ]
        for index in sending.indices {
            sending[index].delivery.phase = .sending
            sending[index].delivery.attempts = 4
            sending[index].delivery.mayHaveArrivedSince = Self.start
        }
        var plan = plan(sending)
        #expect(
            steps(&plan, at: 1) == [
                "send 1", "send 2", "bury 3: it may have arrived: interrupted during an attempt",
            ])
        #expect(plan.entries[id(1)]?.delivery.attempts == 5)
        #expect(plan.entries[id(1)]?.delivery.mayHaveArrivedSince == Self.start)
    }

    /// An entry waits for its account, and holds up its order only.
    @Test func accounts() {
        var plan = plan([
            entry(1, order: "a", account: "anna"), entry(2, order: "a"), entry(3, account: "ben"),
        ])
        #expect(steps(&plan, account: "ben") == ["hold 1", "send 3"])
        #expect(steps(&plan, account: "anna") == [])
        plan.wake(at: Self.start) { $0 == .account }
        #expect(steps(&plan, account: "anna") == ["send 1"])
    }

    /// The network's return makes those due that it has held up.
    @Test func wakes() {
        var plan = plan([entry(1), entry(2)])
        #expect(steps(&plan) == ["send 1", "send 2"])
        fail(&plan, 1, .again(Self.failure, notBefore: .seconds(5000)))
        fail(&plan, 2, .again(.inProgress, notBefore: .seconds(5000)))
        plan.wake(at: Self.start + 1) { $0 == Self.failure }
        #expect(steps(&plan, at: 1) == ["send 1"])
    }

    /// An entry that was being sent when a later one of its topic came is dropped if none of its attempts can have arrived.
    @Test func superseded() {
        let again = DeliveryRules.Verdict.again(Self.failure, notBefore: nil)
        var plan = plan([entry(1, topic: "t"), entry(2, topic: "u"), entry(3, topic: "v")])
        #expect(steps(&plan) == ["send 1", "send 2", "send 3"])
        fail(&plan, 3, again)
        #expect(steps(&plan, at: 10) == ["send 3"])
        for number in [4, 6] { plan.insert(entry(number, topic: number == 4 ? "t" : "v")) }
        for (number, isDropped) in [(1, true), (2, false), (3, false)] {
            let settlement = plan.fail(
                id(number), again, mayHaveArrived: false, at: Self.start + 10, random: 0)
            #expect((settlement == .superseded) == isDropped, "\(number)")
        }
    }

    /// An entry that is awake stays so, though the store still has the time of its wait.
    @Test func wakesOverALoad() {
        var plan = plan([entry(1), entry(2)])
        #expect(steps(&plan) == ["send 1", "send 2"])
        for number in 1...2 { fail(&plan, number, .again(Self.failure, notBefore: .seconds(5000))) }
        let stored = (1...2).compactMap { plan.entries[id($0)] }
        plan.wake(at: Self.start + 1) { $0 == Self.failure }
        plan.insert(stored[0])
        // Another outcome has been stored meanwhile.
        var changed = stored[1]
        changed.delivery.attempts += 1
        plan.insert(changed)
        #expect(steps(&plan, at: 1) == ["send 1"])
        fail(&plan, 1, .again(Self.failure, notBefore: .seconds(5000)), at: 1)
        if let entry = plan.entries[id(1)] { plan.insert(entry) }
        #expect(steps(&plan, at: 2) == [])
    }

    /// A flood of new entries does not keep those waiting whose time has come.
    @Test func flood() {
        var plan = plan((1...100).map { entry($0) }, concurrency: 1)
        #expect(steps(&plan) == ["send 1"])
        fail(&plan, 1, .again(Self.failure, notBefore: nil))
        #expect(steps(&plan) == ["send 2"])
        deliver(&plan, 2)
        var sent: [String] = []
        for number in 3...6 {
            sent += steps(&plan, at: 10)
            if let step = sent.last { deliver(&plan, Int(step.dropFirst(5)) ?? number) }
        }
        #expect(sent.contains("send 1") && sent.contains("send 3"))
    }

    /// The outcome of an attempt whose entry is gone is ignored.
    @Test func removedWhileSent() {
        var plan = plan([entry(1, order: "a"), entry(2, order: "a")])
        #expect(steps(&plan) == ["send 1"])
        plan.remove(id(1))
        #expect(plan.succeed(id(1)) == nil)
        #expect(steps(&plan) == ["send 2"])
    }

    /// Random plans keep the order, send each entry in time, and count them right.
    @Test(arguments: 0..<40)
    func randomPlans(seed: Int) {
        var random = SeededRandom(UInt64(seed))
        var plan = plan([], concurrency: 4)
        var left: [Int: [Int]] = [:]
        var running: Set<Int> = []
        var next = 1
        var now = 0.0
        for _ in 0..<600 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1:
                let line = Int.random(in: 0..<5, using: &random)
                plan.insert(
                    entry(next, order: line == 0 ? nil : "\(line)", guarantee: .atLeastOnce))
                if line > 0 { left[line, default: []].append(next) }
                next += 1
            case 2: now += Double.random(in: 0..<40, using: &random)
            case 3, 4:
                guard let number = running.sorted().randomElement(using: &random) else { continue }
                running.remove(number)
                if Bool.random(using: &random) {
                    deliver(&plan, number)
                    for line in left.keys { left[line]?.removeAll { $0 == number } }
                } else {
                    fail(&plan, number, .again(Self.failure, notBefore: nil), at: now)
                }
            default:
                for step in steps(&plan, at: now) {
                    let number = Int(step.dropFirst(5)) ?? 0
                    #expect(step.hasPrefix("send ") && running.insert(number).inserted)
                    // Only the first of its order may be sent.
                    for (_, members) in left where members.contains(number) {
                        #expect(members.first == number)
                    }
                }
                #expect(running.count <= 4)
            }
            let counts = plan.counts
            #expect(counts.sending == running.count && counts.pending == plan.entries.count)
        }
        // Everything is delivered in the end.
        for _ in 0..<2000 where !plan.entries.isEmpty {
            now += 7200
            for step in steps(&plan, at: now) { running.insert(Int(step.dropFirst(5)) ?? 0) }
            for number in running { deliver(&plan, number) }
            running = []
        }
        #expect(plan.entries.isEmpty)
    }
}
#endif
