/// Admits as many elements as there are places, for each origin and in total; the others wait.
///
/// Origins take turns, and within an origin the order is that of arrival: a thousand requests to one server
/// do not delay a single request to another. A waiting element costs one object and one array element.
///
/// Some of an origin's places exist from the start. The others are added when an element has waited too long
/// (``widen(_:)``) and removed when that is over (``next(_:)``).
package struct FairQueue<Element> {
    /// The places and the waiting elements of one origin: of a key, which need not be an ``RxHTTP/Origin``.
    package final class Origin {
        @usableFromInline let key: String
        @usableFromInline var running = 0
        @usableFromInline var waiting = WaitingList<Element>()
        /// Whether the origin is in the ring.
        @usableFromInline var isInTurn = false
        /// Whether nothing is admitted for now, whatever places are free.
        @usableFromInline var isHeld = false
        /// The number of requests that share one connection; more than one with HTTP/2.
        @usableFromInline var requestsPerConnection = 1
        /// The current number of places.
        @usableFromInline var width: Int

        @inlinable
        init(_ key: String, width: Int) {
            self.key = key
            self.width = width
        }

        /// The number of places taken; one that has room for more elements does not count.
        @inlinable var taken: Int { running / requestsPerConnection }

        /// Whether the next element does not fit into a connection in use; after one has left, whether that was the last of
        /// a connection.
        @inlinable var needsConnection: Bool {
            requestsPerConnection == 1 || running.isMultiple(of: requestsPerConnection)
        }

        /// The number of connections that the running elements need.
        @inlinable var connections: Int { (running + requestsPerConnection - 1) / requestsPerConnection }

        /// Whether no element is admitted or waiting.
        package var isIdle: Bool { running == 0 && waiting.isEmpty }
    }

    @usableFromInline let perOrigin: Int
    @usableFromInline let atOnce: Int
    @usableFromInline let total: Int
    /// The number of connections that all running elements need.
    @usableFromInline var connections = 0
    /// The number of waiting elements.
    @inlinable package var waitingCount: Int { waiting }
    @usableFromInline var waiting = 0
    /// Whether nothing is admitted at any origin for now.
    @usableFromInline var isHeld = false
    @usableFromInline var origins: [String: Origin] = [:]
    /// The origins with a waiting element and a free place, in order of their turns.
    @usableFromInline var ring: [Origin] = []
    @usableFromInline var turn = 0

    /// The number of origins above which idle ones are dropped.
    @inlinable static var idleOrigins: Int { 1024 }

    /// - Parameters:
    ///   - perOrigin: the most places at one origin, such as connections; `nil` for no limit.
    ///   - atOnce: the number of these that are available from the start. Default all.
    ///   - total: the most connections of all origins; elements that share one count once. `nil` for no limit.
    @inlinable
    package init(perOrigin: Int?, atOnce: Int? = nil, total: Int?) {
        self.perOrigin = max(1, perOrigin ?? .max)
        self.atOnce = min(self.perOrigin, max(1, atOnce ?? .max))
        self.total = max(1, total ?? .max)
    }

    /// The origin with that key, created if it does not exist. It may drop idle ones: ``widen(_:)`` and ``removeAll()``
    /// do not reach a dropped origin that a caller has kept.
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

    /// Takes a place at `origin` if one is free; the caller must ``leave(_:)`` it in the end. Elements that
    /// wait at the same origin come first.
    @inlinable
    package mutating func enter(_ origin: Origin) -> Bool {
        guard !isHeld, hasConnection(for: origin), hasFreePlace(origin), origin.waiting.isEmpty else {
            return false
        }
        // Otherwise an origin whose requests always overlap would never give up its connection to those that wait.
        guard connections < total || turn == ring.count else { return false }
        admit(to: origin)
        return true
    }

    /// Appends `element` to the queue of its origin.
    @inlinable
    package mutating func wait(_ element: Element, at origin: Origin) -> WaitingList<Element>.Ticket {
        waiting += 1
        let ticket = origin.waiting.append(element)
        takeTurn(origin)
        return ticket
    }

    /// Removes a waiting element; does nothing if it no longer waits.
    @inlinable
    package mutating func withdraw(_ ticket: WaitingList<Element>.Ticket, from origin: Origin) {
        if origin.waiting.remove(ticket) { waiting -= 1 }
    }

    /// Frees a place. The caller then admits others with ``next(_:)``, as after every call that adds places.
    @inlinable
    package mutating func leave(_ origin: Origin) {
        origin.running -= 1
        if origin.needsConnection { connections -= 1 }
        if origin.running == 0 { origin.width = atOnce }
        takeTurn(origin)
    }

    /// Adds places at each origin whose first waiting element `isOverdue`, as many as elements wait there.
    @inlinable
    package mutating func widen(_ isOverdue: (Element) -> Bool) {
        for origin in origins.values where !origin.isHeld && origin.width < perOrigin {
            guard let first = origin.waiting.first, isOverdue(first) else { continue }
            origin.width = min(perOrigin, origin.taken + origin.waiting.count)
            takeTurn(origin)
        }
    }

    /// Admits the next element that finds a place; the caller must ``leave(_:)`` that in the end.
    ///
    /// - Parameter isLate: whether an element has waited so long that it keeps a place that was added by
    ///   ``widen(_:)``.
    @inlinable
    package mutating func next(_ isLate: (Element) -> Bool = { _ in true }) -> Element? {
        guard waitingCount > 0 else { return nil }
        while !isHeld, turn < ring.count {
            let origin = ring[turn]
            let mayAdmit = hasFreePlace(origin) && !origin.waiting.isEmpty
            // The others keep their turns, too, although one of them may share a connection.
            guard !mayAdmit || hasConnection(for: origin) else { return nil }
            turn += 1
            origin.isInTurn = false
            if turn > 32, turn * 2 > ring.count {
                ring.removeFirst(turn)
                turn = 0
            }
            guard mayAdmit, let first = origin.waiting.first else { continue }
            guard origin.taken < atOnce || isLate(first) else {
                origin.width = max(atOnce, origin.taken)
                continue
            }
            guard let element = origin.waiting.popFirst() else { continue }
            waiting -= 1
            admit(to: origin)
            takeTurn(origin)
            return element
        }
        return nil
    }

    /// Records that requests to `origin` share connections from now on.
    @inlinable
    package mutating func multiplex(_ origin: Origin) {
        // libcurl's default `CURLMOPT_MAX_CONCURRENT_STREAMS`, which RxCurl does not change.
        connections -= origin.connections
        origin.requestsPerConnection = 100
        connections += origin.connections
        takeTurn(origin)
    }

    /// Admits nothing at `origin`, or anywhere if it is `nil`, until ``release(_:)``.
    package mutating func hold(_ origin: Origin?) {
        if let origin { origin.isHeld = true } else { isHeld = true }
    }

    /// Ends ``hold(_:)``.
    package mutating func release(_ origin: Origin?) {
        guard let origin else { return isHeld = false }
        origin.isHeld = false
        takeTurn(origin)
    }

    /// Removes all waiting elements and returns them.
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
    func hasConnection(for origin: Origin) -> Bool { connections < total || !origin.needsConnection }

    @inlinable
    mutating func admit(to origin: Origin) {
        if origin.needsConnection { connections += 1 }
        origin.running += 1
    }

    @inlinable
    func hasFreePlace(_ origin: Origin) -> Bool {
        !origin.isHeld && origin.taken < origin.width
    }

    @inlinable
    mutating func takeTurn(_ origin: Origin) {
        guard !origin.isInTurn, !origin.waiting.isEmpty, hasFreePlace(origin) else { return }
        origin.isInTurn = true
        ring.append(origin)
    }
}

/// A first-in, first-out list whose entries can also be removed by ticket, without a search.
package struct WaitingList<Element> {
    /// The position of an entry.
    package struct Ticket {
        @usableFromInline let number: Int

        @inlinable
        init(number: Int) { self.number = number }
    }

    @usableFromInline var entries: [Element?] = []
    /// The number of the first entry.
    @usableFromInline var base = 0
    /// The index of the first entry that has not been taken.
    @usableFromInline var head = 0
    @usableFromInline var count = 0

    @inlinable package init() {}

    @inlinable package var isEmpty: Bool { count == 0 }

    /// The element that is next.
    @inlinable var first: Element? {
        for index in head..<entries.count { if let entry = entries[index] { return entry } }
        return nil
    }

    @inlinable
    package mutating func append(_ element: Element) -> Ticket {
        entries.append(element)
        count += 1
        return Ticket(number: base + entries.count - 1)
    }

    @inlinable
    package mutating func popFirst() -> Element? {
        while head < entries.count {
            let entry = entries[head].take()
            head += 1
            if let entry {
                count -= 1
                trim()
                return entry
            }
        }
        trim()
        return nil
    }

    /// Removes the entry of a ticket and returns whether it was still there.
    @inlinable
    package mutating func remove(_ ticket: Ticket) -> Bool {
        let index = ticket.number - base
        guard index >= head, index < entries.count, entries[index].take() != nil else { return false }
        count -= 1
        trim()
        return true
    }

    /// Drops the entries before the head once they are the larger part, and all entries if none is left.
    @inlinable
    mutating func trim() {
        if count == 0 { head = entries.count }
        while head < entries.count, entries[head] == nil { head += 1 }
        guard head == entries.count || (head > 32 && head * 2 > entries.count) else { return }
        entries.removeFirst(head)
        base += head
        head = 0
    }
}
