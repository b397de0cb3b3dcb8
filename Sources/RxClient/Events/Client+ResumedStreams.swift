public import RxHTTP
public import RxLite

extension Client {
    /// A streamed response that continues over new connections: lines, JSON values, parts, or other items that
    /// an operator makes from a response.
    ///
    /// ```swift
    /// client.stream(.get("/goods.jsonl"), resumption: .next(keeping: 1) { received in
    ///     .get("/goods.jsonl", query: ["after": received.items.last?.id])
    /// }, reading: { $0.jsonLines(Goods.self) })
    /// ```
    ///
    /// Each connection is a separate ``stream(_:)``, with the timeouts and the retry policy of its endpoint. If
    /// it is interrupted, its items have been sent, and the next connection follows after a wait. A connection
    /// without an item counts as failed, and `Retry-After` is a minimum of the wait. A complete response ends
    /// the stream, unless it has an `end`: then the stream finishes with that item, and a response that ends
    /// without that item is a failure with `partialBody`. An unterminated line at the end of such a response is
    /// an item only if it is the `end`. Errors of the content, such as `decoding` or `tooLarge`, are final. The stream fails
    /// with `loginExpired` when the account at its start is gone.
    ///
    /// - Parameters:
    ///   - endpoint: the endpoint of the first connection.
    ///   - end: the item that ends the stream. Default: none.
    ///   - resumption: how the stream continues after an interruption. With a last id, as for event
    ///     streams, there is one connection.
    ///   - waits: the waits before new connections.
    ///   - body: makes the items of one connection.
    public func stream<Item: Sendable>(
        _ endpoint: some Endpoint, until end: StreamEnd<Item>? = nil, resumption: StreamResumption<Item>,
        waits: ReconnectionWaits = ReconnectionWaits(),
        reading body:
            @escaping @Sendable (Observable<TransferEvent, NetworkError>) -> Observable<
                Item, NetworkError
            >
    ) -> Observable<Item, NetworkError> {
        Observable(scheduler: scheduler) { [scheduler] observer in
            let account = self.account(in: observer.scope.lane)
            StreamSource(
                endpoint, until: end, resumption: resumption.withoutIDs, endsWithBody: end == nil,
                waits: waits, on: scheduler
            ) { endpoint, _ in
                let events = self.transferEvents(of: endpoint, CallSettings(account: account))
                let items = end.map { events.items(until: $0, reading: body) } ?? body(events)
                return items.map { .item($0, id: nil) }
            }
            .values { signal in if case .item(let item, id: _) = signal { item } else { nil } }
            .ending(with: self.account(account, of: endpoint))
            .subscribe(observer)
        }
    }

}

extension Observable where Element == TransferEvent, Failure == NetworkError {
    /// The items of a response that fails with `partialBody` where it ends without the last item of the stream.
    fileprivate func items<Item: Sendable>(
        until end: StreamEnd<Item>,
        reading body: @escaping @Sendable (Observable) -> Observable<Item, NetworkError>
    ) -> Observable<Item, NetworkError> {
        .deferred { [scheduler] in
            let remainder = BodyRemainder()
            let items = body(
                map { event in
                    guard case .head(var head) = event else { return event }
                    head.remainder = remainder
                    return .head(head)
                })
            // The server need not have terminated the last line, but another incomplete one would be a wrong item.
            let last = Observable(scheduler: scheduler) { observer in
                Observable.sequence(remainder.events).subscribe(observer)
            }
            return .concat([
                items, body(last).filter(end.isEnd).catch { _ in .empty() }, .fail(.endedEarly),
            ])
        }
    }
}
