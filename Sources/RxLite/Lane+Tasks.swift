extension Lane {
    /// The lane that the current task works for, if a stream has started the task.
    @TaskLocal private static var served: Lane?

    /// The lane of a subscription that begins here. It feeds the lane that the current task works for.
    @usableFromInline
    static func forSubscription(on scheduler: (any Scheduler)?) -> Lane {
        Lane(scheduler: scheduler, feeding: served)
    }

    /// Runs `start`. Subscriptions made by it, also from tasks that it starts, feed this lane.
    @usableFromInline
    func serve(_ start: () -> Void) {
        Self.$served.withValue(self) { start() }
    }
}
