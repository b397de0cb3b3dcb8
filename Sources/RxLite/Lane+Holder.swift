#if DEBUG
public import Synchronization
#endif

/// Debug builds know the holder of a lane, and stop if state that only the lane's serial order protects is
/// accessed from outside.
extension Lane {
    /// Stops a debug build if the caller is not inside the lane. For state that is `@unchecked Sendable`
    /// because it is accessed only there.
    ///
    /// It distinguishes tasks from each other, and from threads without a task. Two threads without a task
    /// look the same; the scheduler cannot tell them apart either, because a virtual one is current wherever
    /// it is not running.
    @inlinable
    public func assertInside(file: StaticString = #file, line: UInt = #line) {
        #if DEBUG
        assert(isInside, "must be called from inside the lane", file: file, line: line)
        #endif
    }

    @inlinable
    func noteEntering() {
        #if DEBUG
        holder.store(Holder.current, ordering: .relaxed)
        #endif
    }

    @inlinable
    func noteLeaving() {
        #if DEBUG
        holder.store(Holder.nobody, ordering: .relaxed)
        #endif
    }

    #if DEBUG
    @usableFromInline var isInside: Bool {
        let holder = holder.load(ordering: .relaxed)
        return holder == Holder.current || holder == Holder.unknown
    }

    @usableFromInline
    enum Holder {
        @inlinable static var nobody: Int { 0 }
        /// Any caller, for a lane that was taken before it was shared.
        @inlinable static var unknown: Int { -1 }
        /// Any thread without a task.
        @inlinable static var taskless: Int { 1 }

        @usableFromInline static var current: Int {
            unsafe withUnsafeCurrentTask { unsafe $0?.hashValue } ?? taskless
        }
    }
    #endif
}
