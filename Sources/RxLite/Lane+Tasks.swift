extension Lane {
    /// The lane that the current task works for, where a stream has started it.
    @TaskLocal private static var served: Lane?

    /// The lane of a subscription that begins here: it feeds the one that the current task works for.
    @usableFromInline
    static func forSubscription(on scheduler: (any Scheduler)?) -> Lane {
        Lane(scheduler: scheduler, feeding: served)
    }

    /// Runs `start`. Subscriptions that it makes, also from tasks that it begins, feed this lane.
    @usableFromInline
    func serve(_ start: () -> Void) {
        Self.$served.withValue(self) { start() }
    }
}
