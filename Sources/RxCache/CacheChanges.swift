import FoundationEssentials

/// What has been changed, and when, as far as the responses must know that are on their way: a response that was asked
/// for before a change is not kept after it (RFC 9111 §4.4).
///
/// A log of the latest changes, by what they were of. When it is full it begins anew, and everything that was asked for
/// before counts as changed: that loses stored responses and never keeps an old one.
struct CacheChanges {
    private static let mostNames = 4096
    private static let mostCondemned = 1024

    /// Counts the changes.
    private(set) var count = 0
    private var latest: [CacheSelection: Int] = [:]
    /// Everything that was asked for when there were fewer changes has changed.
    private var floor = 0
    /// Responses that are being handed to the store.
    private var storing: [UUID: Set<CacheSelection>] = [:]
    /// Responses that may have come into the store after the change that was to remove them; the oldest first.
    private var condemned: [UUID] = []

    /// Notes a change of everything that is meant.
    mutating func note(_ selection: CacheSelection) {
        count += 1
        if selection == .all || latest.count >= Self.mostNames {
            floor = count
            latest = [:]
        }
        if selection != .all { latest[selection] = count }
        for (id, names) in storing where selection == .all || names.contains(selection) {
            if condemned.count >= Self.mostCondemned { condemned.removeFirst(Self.mostCondemned / 2) }
            condemned.append(id)
        }
    }

    /// Whether anything of these names has been changed since there were `start` changes.
    func includes(_ names: Set<CacheSelection>, since start: Int) -> Bool {
        guard start < count else { return false }
        return start < floor || names.contains { latest[$0].map { $0 > start } == true }
    }

    /// Begins to hand a response to the store, unless something has changed since it was asked for; then
    /// ``endStoring(_:)`` must follow.
    mutating func beginStoring(_ id: UUID, of names: Set<CacheSelection>, since start: Int) -> Bool {
        guard !includes(names, since: start) else { return false }
        storing[id] = names
        return true
    }

    /// The store has it. Whether it must be removed again, since something has changed meanwhile.
    mutating func endStoring(_ id: UUID) -> Bool {
        storing[id] = nil
        return condemned.contains(id)
    }

    /// Whether a response in the store must not be used.
    func condemns(_ id: UUID) -> Bool { !condemned.isEmpty && condemned.contains(id) }
}

extension CacheSelection {
    /// The selections that mean responses of a key, but for their ids and tags.
    package static func names(of key: CacheKey, tags: Set<String>) -> Set<CacheSelection> {
        Set(tags.map(CacheSelection.tag))
            .union([.url(key.url), .place(String(key.place)), .identity(key.identity)])
    }
}
