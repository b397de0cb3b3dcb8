extension Lane {
    /// The lane that the current task works for, if a stream has started the task.
    @TaskLocal private static var served: Lane?

    /// The lane of a subscription that begins here. It feeds the lane that the current task works for, or, if
    /// that subscription is over, the first one it worked for that is not.
    @usableFromInline
    static func forSubscription(on scheduler: (any Scheduler)?) -> Lane {
        guard let served else { return Lane(scheduler: scheduler, feeding: nil, context: currentContext) }
        return Lane(
            scheduler: scheduler, feeding: served.firstActive, context: currentContext ?? served.context)
    }

    /// The lane of a stream that subscribers share: with the context of the one that starts it, but for none of them.
    @usableFromInline
    static func forSharing(on scheduler: (any Scheduler)?, startedIn lane: Lane) -> Lane {
        Lane(scheduler: scheduler, feeding: nil, context: lane.context)
    }

    /// Runs `start`. Subscriptions made by it, also from tasks that it starts, feed this lane.
    @usableFromInline
    func serve(_ start: () -> Void) {
        Self.$served.withValue(self) { start() }
    }
}
