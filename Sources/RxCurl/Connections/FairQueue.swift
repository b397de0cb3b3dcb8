/// Lets as many in as there are places, for each origin and in all; who finds none waits.
///
/// Origins take turns, and within one the order is that of arrival: a thousand requests to one server do not hold
/// up a single one to another. Whoever waits costs an object and an array's element.
struct FairQueue<Element> {
    /// One origin's share.
    final class Origin {
        let key: String
        fileprivate(set) var running = 0
        fileprivate var waiting = WaitingList<Element>()
        /// Whether it stands in the ring.
        fileprivate var isInTurn = false
        /// How many share one connection; more than one with HTTP/2.
        fileprivate var requestsPerConnection = 1

        fileprivate init(_ key: String) { self.key = key }
    }

    private let perOrigin: Int
    private let total: Int
    private var running = 0
    private(set) var waitingCount = 0
    private var origins: [String: Origin] = [:]
    /// The origins that have somebody waiting and a place of their own, in their turn.
    private var ring: [Origin] = []
    private var turn = 0

    /// How many origins are remembered without anybody there.
    private static var idleOrigins: Int { 1024 }

    /// - Parameters:
    ///   - perOrigin: connections for one origin; `nil` for no limit.
    ///   - total: connections in all; `nil` for no limit.
    init(perOrigin: Int?, total: Int?) {
        self.perOrigin = max(1, perOrigin ?? .max)
        self.total = max(1, total ?? .max)
    }

    /// The origin with that key, made now if it is not there.
    mutating func origin(_ key: String) -> Origin {
        if let known = origins[key] { return known }
        if origins.count >= Self.idleOrigins {
            origins = origins.filter { $0.value.running > 0 || !$0.value.waiting.isEmpty }
        }
        let made = Origin(key)
        origins[key] = made
        return made
    }

    /// Takes a place at `origin` if there is one; it is to be left in the end. Nobody is overtaken: who waits at
    /// the same origin comes first.
    mutating func enter(_ origin: Origin) -> Bool {
        guard running < total, hasPlace(origin), origin.waiting.isEmpty else { return false }
        running += 1
        origin.running += 1
        return true
    }

    /// Puts `element` at the end of its origin's queue.
    mutating func wait(_ element: Element, at origin: Origin) -> WaitingList<Element>.Ticket {
        waitingCount += 1
        let ticket = origin.waiting.append(element)
        takeTurn(origin)
        return ticket
    }

    /// Takes one out that waits no more; nothing happens if it has gone.
    mutating func withdraw(_ ticket: WaitingList<Element>.Ticket, from origin: Origin) {
        if origin.waiting.remove(ticket) { waitingCount -= 1 }
    }

    /// Gives a place back.
    mutating func leave(_ origin: Origin) {
        running -= 1
        origin.running -= 1
        takeTurn(origin)
    }

    /// The next one that finds a place, which it thereby takes.
    mutating func next() -> Element? {
        guard waitingCount > 0 else { return nil }
        while running < total, turn < ring.count {
            let origin = ring[turn]
            turn += 1
            origin.isInTurn = false
            if turn > 32, turn * 2 > ring.count {
                ring.removeFirst(turn)
                turn = 0
            }
            guard hasPlace(origin), let element = origin.waiting.popFirst() else { continue }
            waitingCount -= 1
            running += 1
            origin.running += 1
            takeTurn(origin)
            return element
        }
        return nil
    }

    /// Notes that requests to `origin` share connections from now on.
    mutating func multiplex(_ origin: Origin) {
        origin.requestsPerConnection = 100
        takeTurn(origin)
    }

    /// Everybody who waits, none of whom does so any more.
    mutating func removeAll() -> [Element] {
        var all: [Element] = []
        for origin in origins.values {
            while let element = origin.waiting.popFirst() { all.append(element) }
        }
        waitingCount = 0
        return all
    }

    private func hasPlace(_ origin: Origin) -> Bool {
        origin.running / origin.requestsPerConnection < perOrigin
    }

    private mutating func takeTurn(_ origin: Origin) {
        guard !origin.isInTurn, !origin.waiting.isEmpty, hasPlace(origin) else { return }
        origin.isInTurn = true
        ring.append(origin)
    }
}
