public import Synchronization

/// The demand of a shared stream's subscribers on its source.
@usableFromInline
struct SharedDemand: Sendable {
    /// The state of one subscriber.
    @usableFromInline
    enum Part: UInt8, AtomicRepresentable, Sendable {
        case joining
        case listening
        case paused
        case gone
    }

    /// The number of subscribers that take values.
    private var listening = 0
    /// The number of paused subscribers.
    private var paused = 0
    /// The number of full queues, for which the source must pause.
    @usableFromInline var full = 0

    @usableFromInline
    init() {}

    /// A paused subscriber pauses the source only if no other subscriber takes values.
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
