import FoundationEssentials
import RxHTTP
import RxLite
import Synchronization

/// The running requests of a client.
final class RunningRequests: Sendable {
    struct Entry: Sendable {
        let request: Request
        let tags: Set<String>
        let presentation: Presentation
        /// Ends the request with `cancelled`. Safe from any thread.
        let cancel: @Sendable () -> Void
    }

    private struct Contents {
        var entries: [RequestID: Entry] = [:]
        /// The number of running handmade requests.
        var handmadeCount = 0
        /// Whether nobody waits for those.
        var abandonsHandmade = false
        /// Whether new requests are refused.
        var isClosed = false
        /// Called once no request is running.
        var waiters: [@Sendable () -> Void] = []

        /// The waiters to call, if no request is running any more.
        mutating func takeWaiters() -> [@Sendable () -> Void] {
            guard !waiters.isEmpty, entries.isEmpty, handmadeCount == 0 || abandonsHandmade
            else { return [] }
            defer { waiters = [] }
            return waiters
        }
    }

    private let contents = Mutex(Contents())
    /// The requests that show the indicator.
    let activity = Activity()

    /// Adds a request; false if new requests are refused and `isExempt` is false.
    func insert(_ entry: Entry, isExempt: () -> Bool) -> Bool {
        let isAdded = add(entry, evenIfClosed: false) || isExempt() && add(entry, evenIfClosed: true)
        if isAdded, entry.presentation.contains(.indicator) { activity.begin(self) }
        return isAdded
    }

    private func add(_ entry: Entry, evenIfClosed: Bool) -> Bool {
        contents.withLock { contents in
            guard evenIfClosed || !contents.isClosed else { return false }
            contents.entries[entry.request.id] = entry
            return true
        }
    }

    /// Adds a handmade request; false if new requests are refused.
    func insertHandmade() -> Bool {
        contents.withLock { contents in
            if !contents.isClosed { contents.handmadeCount += 1 }
            return !contents.isClosed
        }
    }

    func removeHandmade() {
        let waiters = contents.withLock { contents in
            contents.handmadeCount -= 1
            return contents.takeWaiters()
        }
        for waiter in waiters { waiter() }
    }

    /// Waits no longer for handmade requests.
    func abandonHandmade() {
        let waiters = contents.withLock { contents in
            contents.abandonsHandmade = true
            return contents.takeWaiters()
        }
        for waiter in waiters { waiter() }
    }

    /// Refuses new requests, and calls `whenIdle` once no request is running, which may be at once.
    func close(_ whenIdle: @escaping @Sendable () -> Void) {
        let waiters = contents.withLock { contents in
            contents.isClosed = true
            contents.waiters.append(whenIdle)
            return contents.takeWaiters()
        }
        for waiter in waiters { waiter() }
    }

    /// Removes a request that has ended in `lane`.
    func remove(_ id: RequestID, in lane: Lane) {
        let (entry, waiters) = contents.withLock { contents in
            (contents.entries.removeValue(forKey: id), contents.takeWaiters())
        }
        if entry?.presentation.contains(.indicator) == true {
            // A request that replaces this one counts first.
            lane.afterSuccessor { self.activity.end(self) }
        }
        for waiter in waiters { waiter() }
    }

    /// The requests that `selection` matches, in the order in which they began; `url` is the URL that the selection
    /// names.
    func entries(_ selection: RequestSelection, url: URL?) -> [Entry] {
        let entries = contents.withLock { contents in
            switch selection {
            case .all: Array(contents.entries.values)
            case .id(let id): contents.entries[id].map { [$0] } ?? []
            case .tag(let tag): contents.entries.values.filter { $0.tags.contains(tag) }
            case .url:
                url.map { url in contents.entries.values.filter { $0.request.url.hasSamePlace(as: url) } }
                    ?? []
            }
        }
        return entries.sorted { $0.request.id.rawValue < $1.request.id.rawValue }
    }
}

extension URL {
    /// Whether both URLs are equal up to the query.
    fileprivate func hasSamePlace(as other: URL) -> Bool { place == other.place }

    private var place: Substring { absoluteString.prefix { $0 != "?" && $0 != "#" } }
}
