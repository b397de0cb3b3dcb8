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
        var shownCount = 0
    }

    private let contents = Mutex(Contents())
    /// The number of requests that show the indicator.
    let shownCount = State(0)

    func insert(_ entry: Entry) {
        contents.withLock { contents in
            contents.entries[entry.request.id] = entry
            if entry.presentation.contains(.indicator) { contents.shownCount += 1 }
        }
        show(entry)
    }

    func remove(_ id: RequestID) {
        let entry = contents.withLock { contents in
            let entry = contents.entries.removeValue(forKey: id)
            if entry?.presentation.contains(.indicator) == true { contents.shownCount -= 1 }
            return entry
        }
        if let entry { show(entry) }
    }

    /// Reads the count again at each step, so that the last of several threads publishes the latest one.
    private func show(_ entry: Entry) {
        guard entry.presentation.contains(.indicator) else { return }
        shownCount.update { shown in shown = contents.withLock { $0.shownCount } }
    }

    /// The requests that `selection` matches; `url` is the URL that the selection names.
    func entries(_ selection: RequestSelection, url: URL?) -> [Entry] {
        contents.withLock { contents in
            switch selection {
            case .all: Array(contents.entries.values)
            case .id(let id): contents.entries[id].map { [$0] } ?? []
            case .tag(let tag): contents.entries.values.filter { $0.tags.contains(tag) }
            case .url:
                url.map { url in contents.entries.values.filter { $0.request.url.hasSamePlace(as: url) } }
                    ?? []
            }
        }
    }
}

extension URL {
    /// Whether both URLs are equal up to the query.
    fileprivate func hasSamePlace(as other: URL) -> Bool { place == other.place }

    private var place: Substring { absoluteString.prefix { $0 != "?" && $0 != "#" } }
}
