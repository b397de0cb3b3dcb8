/// The reactions of a scope to a pause and to the end of it.
final class PauseReactions {
    // Without exclusivity checks: accessed only from inside the lane of the scope, and nothing is called while one is
    // being changed.
    @safe @exclusivity(unchecked) var brakes = Callbacks()
    @safe @exclusivity(unchecked) var resumptions = Callbacks()
}
