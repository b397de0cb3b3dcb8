/// What a scope does when it is paused and when it is resumed.
final class PauseReactions {
    // Without exclusivity checks: accessed only from inside the lane of the scope, and nothing is called while one is
    // being changed.
    @safe @exclusivity(unchecked) var brakes = Callbacks()
    @safe @exclusivity(unchecked) var resumptions = Callbacks()
}
