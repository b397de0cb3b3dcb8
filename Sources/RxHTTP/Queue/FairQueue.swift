/// Lets as many in as there are places, for each origin and in all; who finds none waits.
///
/// Origins take turns, and within one the order is that of arrival: a thousand requests to one server do not hold
/// up a single one to another. Whoever waits costs an object and an array's element.
///
/// Of an origin's places some are there at once. The others are added when somebody has waited for too long
/// (``widen(_:)``) and go when that is over (``next(_:)``).
package struct FairQueue<Element> {
    /// One origin's share.
    package final class Origin {
        @usableFromInline let key: String
        @usableFromInline var running = 0
        @usableFromInline var waiting = WaitingList<Element>()
        /// Whether it stands in the ring.
        @usableFromInline var isInTurn = false
        /// Whether nobody is let in for now, whatever places there are.
        @usableFromInline var isHeld = false
        /// How many share one connection; more than one with HTTP/2.
        @usableFromInline var requestsPerConnection = 1
        /// How many places there are for now.
        @usableFromInline var width: Int

        @inlinable
        init(_ key: String, width: Int) {
            self.key = key
            self.width = width
        }

        /// How many places are taken.
        @inlinable var taken: Int { running / requestsPerConnection }

        /// Whether nobody is there and nobody waits.
        package var isIdle: Bool { running == 0 && waiting.isEmpty }
    }

    @usableFromInline let perOrigin: Int
    @usableFromInline let atOnce: Int
    @usableFromInline let total: Int
    @usableFromInline var running = 0
    /// How many wait.
    @inlinable package var waitingCount: Int { waiting }
    @usableFromInline var waiting = 0
    /// Whether nobody is let in anywhere for now.
    @usableFromInline var isHeld = false
    @usableFromInline var origins: [String: Origin] = [:]
    /// The origins that have somebody waiting and a place of their own, in their turn.
    @usableFromInline var ring: [Origin] = []
    @usableFromInline var turn = 0

    /// How many origins are remembered without anybody there.
    @inlinable static var idleOrigins: Int { 1024 }

    /// - Parameters:
    ///   - perOrigin: connections for one origin; `nil` for no limit.
    ///   - atOnce: how many of these are there at once. Default all.
    ///   - total: connections in all; `nil` for no limit.
    @inlinable
    package init(perOrigin: Int?, atOnce: Int? = nil, total: Int?) {
        self.perOrigin = max(1, perOrigin ?? .max)
        self.atOnce = min(self.perOrigin, max(1, atOnce ?? .max))
        self.total = max(1, total ?? .max)
    }

    /// The origin with that key, made now if it is not there.
    @inlinable
    package mutating func origin(_ key: String) -> Origin {
        if let known = origins[key] { return known }
        if origins.count >= Self.idleOrigins {
            origins = origins.filter { $0.value.running > 0 || !$0.value.waiting.isEmpty }
        }
        let made = Origin(key, width: atOnce)
        origins[key] = made
        return made
    }

    /// Takes a place at `origin` if there is one; it is to be left in the end. Nobody is overtaken: who waits at
    /// the same origin comes first.
    @inlinable
    package mutating func enter(_ origin: Origin) -> Bool {
        guard !isHeld, running < total, hasPlace(origin), origin.waiting.isEmpty else { return false }
        running += 1
        origin.running += 1
        return true
    }

    /// Puts `element` at the end of its origin's queue.
    @inlinable
    package mutating func wait(_ element: Element, at origin: Origin) -> WaitingList<Element>.Ticket {
        waiting += 1
        let ticket = origin.waiting.append(element)
        takeTurn(origin)
        return ticket
    }

    /// Takes one out that waits no more; nothing happens if it has gone.
    @inlinable
    package mutating func withdraw(_ ticket: WaitingList<Element>.Ticket, from origin: Origin) {
        if origin.waiting.remove(ticket) { waiting -= 1 }
    }

    /// Gives a place back.
    @inlinable
    package mutating func leave(_ origin: Origin) {
        running -= 1
        origin.running -= 1
        if origin.running == 0 { origin.width = atOnce }
        takeTurn(origin)
    }

    /// Gives the origins more places, as many as are waited for there, where the first in the queue `isOverdue`.
    @inlinable
    package mutating func widen(_ isOverdue: (Element) -> Bool) {
        for origin in origins.values where !origin.isHeld && origin.width < perOrigin {
            guard let first = origin.waiting.first, isOverdue(first) else { continue }
            origin.width = min(perOrigin, origin.taken + origin.waiting.count)
            takeTurn(origin)
        }
    }

    /// The next one that finds a place, which it thereby takes.
    ///
    /// - Parameter isLate: whether somebody has waited so long that the place is to stay, if it is none of those that
    ///   are always there.
    @inlinable
    package mutating func next(_ isLate: (Element) -> Bool = { _ in true }) -> Element? {
        guard waitingCount > 0 else { return nil }
        while !isHeld, running < total, turn < ring.count {
            let origin = ring[turn]
            turn += 1
            origin.isInTurn = false
            if turn > 32, turn * 2 > ring.count {
                ring.removeFirst(turn)
                turn = 0
            }
            guard hasPlace(origin), let first = origin.waiting.first else { continue }
            guard origin.taken < atOnce || isLate(first) else {
                origin.width = max(atOnce, origin.taken)
                continue
            }
            guard let element = origin.waiting.popFirst() else { continue }
            waiting -= 1
            running += 1
            origin.running += 1
            takeTurn(origin)
            return element
        }
        return nil
    }

    /// Notes that requests to `origin` share connections from now on.
    @inlinable
    package mutating func multiplex(_ origin: Origin) {
        origin.requestsPerConnection = 100
        takeTurn(origin)
    }

    /// Lets nobody in at `origin`, or nowhere if it is `nil`, until ``release(_:)``.
    package mutating func hold(_ origin: Origin?) {
        if let origin { origin.isHeld = true } else { isHeld = true }
    }

    /// Takes ``hold(_:)`` back.
    package mutating func release(_ origin: Origin?) {
        guard let origin else { return isHeld = false }
        origin.isHeld = false
        takeTurn(origin)
    }

    /// Everybody who waits, none of whom does so any more.
    @inlinable
    package mutating func removeAll() -> [Element] {
        var all: [Element] = []
        for origin in origins.values {
            while let element = origin.waiting.popFirst() { all.append(element) }
        }
        waiting = 0
        return all
    }

    @inlinable
    func hasPlace(_ origin: Origin) -> Bool {
        !origin.isHeld && origin.taken < origin.width
    }

    @inlinable
    mutating func takeTurn(_ origin: Origin) {
        guard !origin.isInTurn, !origin.waiting.isEmpty, hasPlace(origin) else { return }
        origin.isInTurn = true
        ring.append(origin)
    }
}
