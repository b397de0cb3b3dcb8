public import RxHTTP
public import RxLite

extension Client {
    /// The response of an endpoint as it arrives, for bodies that are too large, or too slow, to wait for.
    ///
    /// Chain what is to become of it: `chunks()`, `lines()`, `jsonLines(_:)`, `serverSentEvents()`, `file(at:in:)`.
    /// A subscriber that is full stops the network.
    ///
    /// ```swift
    /// client.stream(.get("/goods.jsonl")).jsonLines(Goods.self)
    ///     .subscribe(onNext: { goods in … }, onFailure: { error in … })
    /// ```
    ///
    /// Until the response begins it behaves like ``request(_:)``: credential, retry, relogin; a status that is no
    /// success fails with `status`. Later failures are final, since part of the response has been delivered. The
    /// endpoint's envelope, types of content, part, validator and output do not matter. ``Timeouts/attempt`` and
    /// ``Timeouts/total`` count to the end of the body.
    public func stream(_ endpoint: some Endpoint) -> Observable<TransferEvent, NetworkError> {
        drafted(endpoint, isWhole: false) { draft throws(NetworkError) in
            let attempts = try self.attempts(of: draft, retrying: draft.options.retry)
            let session = self.session(for: draft)
            let envelope = self.envelope(of: draft)
            return self.send(
                attempts, session: session, cookies: self.cookies(for: draft),
                through: [.failover, .circuitBreaker, .limits]
            ) { events, request in
                events.checkStatus(of: request, envelope: envelope)
            }
            .map { [decoder = self.configuration.decoder] event in
                guard case .head(var head) = event else { return event }
                attempts.noteAnswer()
                session?.noteSuccess(of: attempts.stamp)
                head.decoder = decoder
                return .head(head)
            }
            .relogin(through: session, replay: attempts.replay, trace: attempts.trace)
            .retry(attempts.policyUntilAnswer)
            .deadline(of: attempts)
            .traced(by: attempts.trace, isWhole: false)
        }
    }
}
