/// The failure of streams of recorded cases: any thrown value.
struct RecordedError: Error, Equatable {
    let value: Value

    init(_ value: Value) { self.value = value }

    static let empty = RecordedError(.error(name: "EmptyError", message: "no elements in sequence"))
    static let notFound = RecordedError(.error(name: "NotFoundError", message: "No matching values"))
    static let tooMany = RecordedError(.error(name: "SequenceError", message: "Too many matching values"))
    static let timeout = RecordedError(.error(name: "TimeoutError", message: "Timeout has occurred"))
    static let outOfRange = RecordedError(
        .error(name: "ArgumentOutOfRangeError", message: "argument out of range"))

    /// RxJS's error for a value that cannot be subscribed to.
    static func noStream(_ value: Value) -> RecordedError {
        let kinds = "an Observable, Promise, ReadableStream, Array, AsyncIterable, or Iterable"
        return RecordedError(
            .error(
                name: "TypeError",
                message: "You provided '\(value)' where a stream was expected. You can provide \(kinds)."))
    }
}
