#if DEBUG
    public import Synchronization
#endif

/// Debug builds know who is inside a lane, and stop where something is touched from outside that only the lane's serial
/// order protects.
extension Lane {
    /// Stops a debug build whose caller is not inside the lane. For what is `@unchecked Sendable` because it is
    /// touched only in there.
    ///
    /// It tells one task from another, and tasks from threads without one. Two threads without a task look the same to it;
    /// the scheduler cannot tell them apart either, since a virtual one is current wherever it is not running.
    @inlinable
    public func assertInside(file: StaticString = #file, line: UInt = #line) {
        #if DEBUG
            assert(isInside, "only to be called from inside the lane", file: file, line: line)
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
            /// Whoever carries on with a subscription that was taken before anybody could know of it.
            @inlinable static var unknown: Int { -1 }
            /// Any thread without a task.
            @inlinable static var taskless: Int { 1 }

            @usableFromInline static var current: Int {
                unsafe withUnsafeCurrentTask { unsafe $0?.hashValue } ?? taskless
            }
        }
    #endif
}
