import RxLite

/// A value and its place in the stream.
struct Numbered: Sendable {
    let index: Value
    let value: Value
}

extension Observable<Value, RecordedError> {
    /// Each value with its index.
    func numbered() -> Observable<Numbered, RecordedError> {
        scan((-1, Value.undefined)) { ($0.0 + 1, $1) }.map { Numbered(index: .number($0.0), value: $0.1) }
    }

    /// The values for which `predicate` holds; all, if there is none.
    func filtered(by predicate: CallTable?) -> Stream {
        guard let predicate else { return self }
        return numbered().filter { numbered throws(RecordedError) in
            try predicate(numbered.value, numbered.index, .opaque).isTrue
        }
        .map(\.value)
    }

    /// The result of `make` for the stream and one that sends when it has finished and fails like it, in one
    /// subscription.
    func withEnd<T>(
        _ make: @escaping @Sendable (Stream, _ end: Stream) -> Observable<T, RecordedError>
    ) -> Observable<T, RecordedError> {
        .deferred {
            let shared = share()
            return make(shared, .concat([shared.ignoreElements(as: Value.self), .just(true)]))
        }
    }
}
