import RxHTTP
import Testing

@Suite struct FairQueueTests {
    /// Enters, or waits with a name.
    private func enter(
        _ name: String, at key: String, _ queue: inout FairQueue<String>
    ) -> WaitingList<String>.Ticket? {
        let origin = queue.origin(key)
        return queue.enter(origin) ? nil : queue.wait(name, at: origin)
    }

    @Test func withoutLimitsNobodyWaits() {
        var queue = FairQueue<String>(perOrigin: nil, total: nil)
        for number in 0..<10_000 {
            let ticket = enter("\(number)", at: "a", &queue)
            #expect(ticket == nil)
        }
        #expect(queue.waitingCount == 0)
        #expect(queue.next() == nil)
    }

    @Test func withinAnOriginTheOrderIsThatOfArrival() {
        var queue = FairQueue<String>(perOrigin: 1, total: nil)
        for number in 0..<200 { _ = enter("\(number)", at: "a", &queue) }
        #expect(queue.next() == nil)
        for number in 1..<200 {
            queue.leave(queue.origin("a"))
            #expect(queue.next() == "\(number)")
            #expect(queue.next() == nil)
        }
        #expect(queue.waitingCount == 0)
    }

    @Test func originsTakeTurns() {
        var queue = FairQueue<String>(perOrigin: nil, total: 1)
        _ = enter("a0", at: "a", &queue)
        for number in 1...3 { _ = enter("a\(number)", at: "a", &queue) }
        for name in ["b1", "b2", "c1"] { _ = enter(name, at: String(name.prefix(1)), &queue) }
        var order: [String] = []
        var last = "a"
        repeat {
            queue.leave(queue.origin(last))
            guard let next = queue.next() else { break }
            order.append(next)
            last = String(next.prefix(1))
        } while true
        #expect(order == ["a1", "b1", "c1", "a2", "b2", "a3"])
    }

    @Test func aFullOriginDoesNotHoldUpTheOthers() {
        var queue = FairQueue<String>(perOrigin: 2, total: 3)
        #expect(enter("a0", at: "a", &queue) == nil)
        #expect(enter("a1", at: "a", &queue) == nil)
        #expect(enter("a2", at: "a", &queue) != nil)
        #expect(enter("b0", at: "b", &queue) == nil)
        #expect(enter("b1", at: "b", &queue) != nil)
        #expect(queue.next() == nil)
        queue.leave(queue.origin("b"))
        #expect(queue.next() == "b1", "a has no place")
        queue.leave(queue.origin("a"))
        #expect(queue.next() == "a2")
        #expect(queue.next() == nil)
    }

    @Test func nobodyIsOvertaken() {
        var queue = FairQueue<String>(perOrigin: 1, total: nil)
        _ = enter("a0", at: "a", &queue)
        _ = enter("a1", at: "a", &queue)
        queue.leave(queue.origin("a"))
        #expect(enter("late", at: "a", &queue) != nil)
        #expect(queue.next() == "a1")
    }

    @Test func whoWithdrawsIsNotCalled() throws {
        var queue = FairQueue<String>(perOrigin: 1, total: nil)
        _ = enter("0", at: "a", &queue)
        var tickets: [WaitingList<String>.Ticket] = []
        for number in 1...300 {
            tickets.append(try #require(enter("\(number)", at: "a", &queue)))
        }
        for (index, ticket) in tickets.enumerated() where (index + 1) % 100 != 0 {
            queue.withdraw(ticket, from: queue.origin("a"))
            queue.withdraw(ticket, from: queue.origin("a"))
        }
        #expect(queue.waitingCount == 3)
        for expected in ["100", "200", "300"] {
            queue.leave(queue.origin("a"))
            #expect(queue.next() == expected)
        }
        queue.withdraw(tickets[99], from: queue.origin("a"))
        queue.leave(queue.origin("a"))
        #expect(queue.next() == nil)
        #expect(enter("after", at: "a", &queue) == nil)
    }

    @Test func overHTTP2AConnectionIsForAHundred() {
        var queue = FairQueue<String>(perOrigin: 1, total: nil)
        #expect(enter("0", at: "a", &queue) == nil)
        for number in 1...150 { #expect(enter("\(number)", at: "a", &queue) != nil) }
        queue.multiplex(queue.origin("a"))
        var count = 1
        while queue.next() != nil { count += 1 }
        #expect(count == 100)
        #expect(queue.waitingCount == 51)
    }

    /// The limit of all origins counts connections, too.
    @Test func overHTTP2AHundredRequestsAreOneConnectionOfAll() {
        var queue = FairQueue<String>(perOrigin: 4, total: 2)
        #expect(enter("first", at: "a", &queue) == nil)
        #expect(enter("second", at: "a", &queue) == nil)
        #expect(enter("waiting", at: "a", &queue) != nil)
        queue.multiplex(queue.origin("a"))
        #expect(queue.next() == "waiting")
        for number in 3..<200 { #expect(enter("\(number)", at: "a", &queue) == nil) }
        #expect(enter("a third connection", at: "a", &queue) != nil)
        #expect(enter("at another origin", at: "b", &queue) != nil)
        for _ in 0..<99 { queue.leave(queue.origin("a")) }
        #expect(queue.next() == "a third connection")
        queue.leave(queue.origin("a"))
        queue.leave(queue.origin("a"))
        #expect(queue.next() == "at another origin")
        #expect(enter("another", at: "b", &queue) != nil)
    }

    /// Requests that always overlap give up their connection to an origin that waits.
    @Test func sharingDoesNotStarveWhoNeedsAConnection() {
        var queue = FairQueue<String>(perOrigin: 4, total: 1)
        queue.multiplex(queue.origin("shared"))
        for number in 0..<50 { #expect(enter("\(number)", at: "shared", &queue) == nil) }
        #expect(enter("alone", at: "other", &queue) != nil)
        #expect(enter("late", at: "shared", &queue) != nil, "others wait")
        for _ in 0..<49 {
            queue.leave(queue.origin("shared"))
            #expect(queue.next() == nil)
        }
        queue.leave(queue.origin("shared"))
        #expect(queue.next() == "alone")
        #expect(queue.next() == nil)
        queue.leave(queue.origin("other"))
        #expect(queue.next() == "late")
    }

    /// An origin that nobody waits for any more holds nobody up.
    @Test func sharedConnectionsAreGivenPastAnOriginWithoutWaiters() throws {
        var queue = FairQueue<String>(perOrigin: 4, total: 1)
        queue.multiplex(queue.origin("shared"))
        for number in 0..<100 { #expect(enter("\(number)", at: "shared", &queue) == nil) }
        let ticket = try #require(enter("withdrawn", at: "other", &queue))
        queue.withdraw(ticket, from: queue.origin("other"))
        #expect(enter("waiting", at: "shared", &queue) != nil)
        queue.leave(queue.origin("shared"))
        #expect(queue.next() == "waiting")
    }

    @Test func removingAllLeavesNobody() {
        var queue = FairQueue<String>(perOrigin: 1, total: nil)
        for key in ["a", "b"] { for number in 0..<5 { _ = enter("\(key)\(number)", at: key, &queue) } }
        #expect(Set(queue.removeAll()) == Set(["a", "b"].flatMap { key in (1..<5).map { "\(key)\($0)" } }))
        #expect(queue.waitingCount == 0)
        queue.leave(queue.origin("a"))
        #expect(queue.next() == nil)
        #expect(enter("new", at: "a", &queue) == nil)
    }

    @Test func manyOriginsAreForgottenButNotThoseInUse() {
        var queue = FairQueue<String>(perOrigin: 1, total: nil)
        #expect(enter("kept", at: "kept", &queue) == nil)
        for number in 0..<5000 {
            let origin = queue.origin("\(number)")
            let isIn = queue.enter(origin)
            #expect(isIn)
            queue.leave(origin)
        }
        #expect(enter("second", at: "kept", &queue) != nil)
    }

    @Test func placesBeyondThoseAtOnceAreForTheOverdue() {
        var queue = FairQueue<String>(perOrigin: 4, atOnce: 2, total: nil)
        for name in ["0", "1", "2", "3", "4"] { _ = enter(name, at: "a", &queue) }
        #expect(queue.waitingCount == 3)
        queue.widen { _ in false }
        #expect(queue.next() == nil)
        queue.widen { $0 == "2" }
        #expect(queue.next() == "2")
        #expect(queue.next() == "3")
        #expect(queue.next() == nil, "there are no more than four")
        queue.leave(queue.origin("a"))
        #expect(enter("5", at: "a", &queue) != nil)
        #expect(queue.next() == "4")
    }

    @Test func placesGoWhenNobodyIsLateAnyMore() {
        var queue = FairQueue<String>(perOrigin: 8, atOnce: 2, total: nil)
        for name in ["0", "1", "2", "3"] { _ = enter(name, at: "a", &queue) }
        queue.widen { _ in true }
        while queue.next() != nil {}
        let origin = queue.origin("a")
        queue.leave(origin)
        #expect(enter("4", at: "a", &queue) == nil, "an existing connection is used")
        _ = enter("5", at: "a", &queue)
        queue.leave(origin)
        #expect(queue.next { _ in false } == nil, "the fourth place is not needed any more")
        queue.leave(origin)
        #expect(queue.next { _ in false } == nil, "nor the third")
        queue.leave(origin)
        #expect(queue.next { _ in false } == "5")
    }

    @Test func whenNobodyIsThereThePlacesAreThoseAtOnce() {
        var queue = FairQueue<String>(perOrigin: 8, atOnce: 1, total: nil)
        for name in ["0", "1", "2"] { _ = enter(name, at: "a", &queue) }
        queue.widen { _ in true }
        while queue.next() != nil {}
        for _ in 0..<3 { queue.leave(queue.origin("a")) }
        #expect(enter("3", at: "a", &queue) == nil)
        #expect(enter("4", at: "a", &queue) != nil)
    }

    @Test(arguments: 1...4) func placesAreNeverTooManyNorLost(seed: Int) {
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        var queue = FairQueue<String>(perOrigin: 3, total: 7)
        var running: [String] = []
        var waiting: [(String, WaitingList<String>.Ticket)] = []
        for _ in 0..<5000 {
            let key = "\(random(5))"
            switch random(5) {
            case 0, 1:
                if let ticket = enter(key, at: key, &queue) {
                    waiting.append((key, ticket))
                } else {
                    running.append(key)
                }
            case 2 where !waiting.isEmpty:
                let (key, ticket) = waiting.remove(at: random(waiting.count))
                queue.withdraw(ticket, from: queue.origin(key))
            default:
                if !running.isEmpty { queue.leave(queue.origin(running.remove(at: random(running.count)))) }
            }
            while let next = queue.next() {
                running.append(next)
                if let index = waiting.firstIndex(where: { $0.0 == next }) { waiting.remove(at: index) }
            }
            let full = Dictionary(running.map { ($0, 1) }, uniquingKeysWith: +).filter { $0.value >= 3 }
            #expect(running.count <= 7)
            #expect(full.values.allSatisfy { $0 == 3 })
            #expect(queue.waitingCount == waiting.count)
            #expect(running.count == 7 || waiting.allSatisfy { full[$0.0] != nil })
        }
    }
}
