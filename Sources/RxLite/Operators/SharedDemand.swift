public import Synchronization

/// What the subscribers of a shared stream want of its source.
@usableFromInline
struct SharedDemand: Sendable {
    /// One subscriber's part in it.
    @usableFromInline
    enum Part: UInt8, AtomicRepresentable, Sendable {
        case joining
        case listening
        case paused
        case gone
    }

    /// How many subscribers take values.
    private var listening = 0
    /// How many subscribers are paused.
    private var paused = 0
    /// For how many so many values wait that no more may come.
    @usableFromInline var full = 0

    @usableFromInline
    init() {}

    /// A paused subscriber brakes nobody but itself: the source stops when there is no other.
    @usableFromInline var mustPause: Bool { full > 0 || paused > 0 && listening == 0 }

    mutating func add(_ part: Part) { change(part, by: 1) }

    mutating func remove(_ part: Part) { change(part, by: -1) }

    private mutating func change(_ part: Part, by difference: Int) {
        switch part {
        case .listening: listening += difference
        case .paused: paused += difference
        case .joining, .gone: break
        }
    }
}
