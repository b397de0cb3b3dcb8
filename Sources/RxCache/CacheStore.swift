public import RxHTTP
public import RxLite

/// The storage of a cache. It decides nothing about them but which make room for others.
///
/// The streams of its methods are cold: each subscription does the work once. Operations take effect in the order in
/// which they are subscribed to, so a lookup sees every ``store(_:)`` that was begun before it. Subscribing is safe
/// from any thread and does not block; values may arrive on any thread, and the subscriber's stream moves them to its
/// own scheduler. Cancelling a subscription discards the result; an operation that has begun may still complete.
///
/// A store's failure fails only its direct caller: for the requests of a client it is a miss. An entry that is broken
/// (cut off, of another format, not the bytes that were stored) is left out of a lookup, removed, and no failure.
public protocol CacheStore: Sendable {
    /// One value: all variants of `key`, the ones that came last first; empty where there are none. Has them used
    /// last, where that decides which make room.
    func entries(for key: CacheKey) -> Observable<[CacheEntry], NetworkError>

    /// What ``entries(for:)`` would give, where that is known without waiting for anything; `nil` where it has to be
    /// looked up. From any thread. Default `nil`.
    func entriesAtHand(for key: CacheKey) -> [CacheEntry]?

    /// Keeps an entry in the place of the one it ``CacheEntry/Metadata/replaces(_:)``, if there is one, and drops
    /// others where room is needed. One that is larger than the store may hold is not kept, nor is the one it would
    /// replace, and that is no failure. One value when it is done.
    func store(_ entry: CacheEntry) -> Observable<Void, NetworkError>

    /// Puts `metadata` in the place of that of the entry with the same ``CacheEntry/Metadata/id``, whose body stays;
    /// does nothing where it has gone. One value when it is done.
    func update(_ metadata: CacheEntry.Metadata) -> Observable<Void, NetworkError>

    /// Removes what is meant. One value when it is done: how many there were.
    func remove(_ selection: CacheSelection) -> Observable<Int, NetworkError>

    /// What it holds, as far as it knows by now: one that is shared with another process may be behind. From any
    /// thread.
    var usage: CacheUsage { get }
}

extension CacheStore {
    /// `nil`: it has to be looked up.
    public func entriesAtHand(for key: CacheKey) -> [CacheEntry]? { nil }
}
