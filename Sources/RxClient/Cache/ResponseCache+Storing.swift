import RxCache
import RxHTTP
import RxLite

extension ResponseCache {
    /// Writes a response to the store, unless something has changed since `start`.
    func store(_ entry: CacheEntry, since start: CacheHistory.Moment) {
        let id = entry.metadata.id
        guard history.beginStoring(entry.metadata, since: start) else { return }
        count { $0.stored += 1 }
        perform(
            store.store(entry).finally {
                guard self.history.endStoring(id) else { return }
                self.perform(self.store.remove(.id(id)))
            })
    }
}
