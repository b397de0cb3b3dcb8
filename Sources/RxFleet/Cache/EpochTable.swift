#if Fleet
/// The epochs of selections, as this process knows them: a number for each selection that a removal replaces. A stored
/// response is valid while all of its epochs are the current ones.
///
/// Epochs are random numbers, not counts. So an epoch that the store has evicted and that begins again is a different
/// one, and responses of before are not revived.
struct EpochTable: Sendable {
    /// The state of the table when a read of the store began.
    struct Moment: Equatable {
        fileprivate let change: Int
    }

    private static let maxEpochs = 10_000
    private var known: [String: UInt64] = [:]
    /// Those that were known before `known` was full. Both together have at most ``maxEpochs``, and what has just been learned
    /// stays for as long as half of them are learned or replaced: it is about to be used.
    private var older: [String: UInt64] = [:]
    /// The number of the change that last replaced an epoch, for reads that began before.
    private var replaced: [String: Int] = [:]
    /// Epochs read before this change are not learned, because `replaced` does not go back that far.
    private var floor = 0
    private var changes = 0

    /// The moment now.
    var now: Moment { Moment(change: changes) }

    private subscript(name: String) -> UInt64? { known[name] ?? older[name] }

    /// Those of the epochs with these names that are known.
    func known(_ names: [String]) -> [String: UInt64] {
        var found: [String: UInt64] = [:]
        for name in names { found[name] = self[name] }
        return found
    }

    /// Those of the names whose epoch is unknown.
    func unknown(_ names: some Sequence<String>) -> [String] { names.filter { self[$0] == nil } }

    /// Whether all of these epochs are the current ones, as far as known; `nil` if one of them has to be read.
    func isCurrent(_ epochs: [String: UInt64]) -> Bool? {
        var isKnown = true
        for (name, epoch) in epochs {
            guard let current = self[name] else {
                isKnown = false
                continue
            }
            if current != epoch { return false }
        }
        return isKnown ? true : nil
    }

    /// An epoch has been read from the store, by a read that began at `start`. Returns `false` if a removal has overtaken it.
    mutating func learn(_ name: String, _ epoch: UInt64, since start: Moment) -> Bool {
        guard start.change >= floor, replaced[name].map({ $0 <= start.change }) ?? true else { return false }
        keep(name, epoch)
        return true
    }

    private mutating func keep(_ name: String, _ epoch: UInt64) {
        if known.count >= Self.maxEpochs / 2 { (older, known) = (known, [:]) }
        known[name] = epoch
    }

    /// A removal has replaced an epoch.
    mutating func replace(_ name: String, by epoch: UInt64?) {
        changes += 1
        if replaced.count >= Self.maxEpochs {
            replaced = [:]
            floor = changes
        }
        replaced[name] = changes
        (known[name], older[name]) = (nil, nil)
        if let epoch { keep(name, epoch) }
    }

    /// Forgets the known epochs. What running reads find is still learned.
    mutating func forgetKnown() { (known, older) = ([:], [:]) }

    /// Removals may have been missed.
    mutating func forgetAll() {
        changes += 1
        floor = changes
        forgetKnown()
        replaced = [:]
    }
}

/// Which fetches are worth waiting for, of those that other processes have begun.
struct FetchMemory: Sendable {
    /// How long a key is fetched without waiting after a fetch that stored nothing. Fleets.md states it.
    static let memory = Duration.seconds(60)
    private static let maxKeys = 4096

    /// The keys whose responses have turned out not to be stored, and until when that is remembered.
    private var unshared: [String: Duration] = [:]

    /// Whether to wait for the fetch of another process.
    func isWorthWaiting(for name: String, at now: Duration) -> Bool {
        unshared[name].map { $0 <= now } ?? true
    }

    /// A fetch has ended, or its time is over, without a stored response.
    mutating func recordFailure(of name: String, at now: Duration) {
        if unshared.count >= Self.maxKeys { unshared = unshared.filter { $0.value > now } }
        if unshared.count >= Self.maxKeys { unshared = [:] }
        unshared[name] = now + Self.memory
    }

    /// A response has been stored.
    mutating func recordSuccess(of name: String) { unshared[name] = nil }
}
#endif
