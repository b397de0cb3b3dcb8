public import RxLite

extension Observable where Element == TransferEvent, Failure == NetworkError {
    /// The events of a `text/event-stream` body, each as soon as its blank line has arrived; an incomplete
    /// event at the end is dropped. Works with any method. A client's `events` also reconnects.
    ///
    /// ```swift
    /// client.stream(.post("/chat", .json(["prompt": "tea?"]))).serverSentEvents()
    ///     .subscribe(onNext: { event in print(event.data) })
    /// ```
    ///
    /// - Parameter limit: the most bytes of one event. A larger one fails with `tooLarge`. Default 1 MiB.
    public func serverSentEvents(limit: Int = 1 << 20) -> Observable<ServerSentEvent, NetworkError> {
        parsed { EventStreamParser(limit: limit) }
            .compactMap { found in
                if case .event(let event) = found { event } else { nil }
            }
    }
}
