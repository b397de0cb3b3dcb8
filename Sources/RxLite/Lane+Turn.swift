/// The rest of one turn of a lane's scheduler, for loops that could continue without end. A lane without a
/// scheduler gives way to no other work, so its turns do not end.
@usableFromInline
struct Turn {
    @usableFromInline var left: Int

    /// - Parameter length: the number of steps. Default: ``Lane/turnLength``.
    @inlinable
    init(in lane: Lane, of length: Int = Lane.turnLength) {
        left = lane.scheduler == nil ? .max : length
    }

    /// Takes a step; false if none is left.
    @inlinable
    mutating func step() -> Bool {
        left -= 1
        return left >= 0
    }
}

extension Scope {
    /// Runs `work` in another turn of the lane's scheduler, if the scope is still open by then.
    @inlinable
    package func inNextTurn(_ work: @escaping @Sendable () -> Void) {
        guard let scheduler = lane.scheduler else { return enter(work) }
        scheduler.schedule { self.enter(work) }
    }
}
