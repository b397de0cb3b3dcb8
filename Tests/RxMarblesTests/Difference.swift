/// The cases in which RxLite keeps a contract of its own (see Docs/Contracts.md), and which one it is.
enum Difference {
    static let contracts: [String: String] = [
        "operators/delay-spec.js delay > should delay when source does not emit":
            "delay: the end comes when the delay has passed, whether or not values wait",
        "operators/delay-spec.js delay > should delay complete when a value is scheduled":
            "delay: the end comes when the delay has passed, whether or not values wait",
        "operators/share-spec.js share > share() > should not fail on reentrant subscription":
            "a value sent from within a callback is delivered after it, never inside it",
        "operators/sequenceEqual-spec.js sequenceEqual > should use the provided comparator function":
            "pairs that zip makes are in the order of the streams, not in that of arrival",
        "observables/generate-spec.js generate > should accept a scheduler":
            "a stream runs once for each subscription; recorded are the calls of two, and the events of one",
    ]
}
