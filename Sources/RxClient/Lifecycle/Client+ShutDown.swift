import RxHTTP
public import RxLite

extension Client {
    /// Shuts the client down: refuses new requests with ``NetworkError/Code/shutDown``, and lets those that run end; what
    /// still runs after `limit` is cancelled (``NetworkError/Code/cancelled``).
    ///
    /// ```swift
    /// try await client.shutDown(within: .seconds(20)).value()
    /// ```
    ///
    /// Nothing happens before a subscription. The stream ends with a value, when no request runs any more; cancelling
    /// it cancels the requests at once. A client that has been shut down stays so. Its transport, which other clients may
    /// use, is not shut down.
    ///
    /// A login that requests wait for may still send its own. Handmade requests (``exchange(_:following:usesCookies:)``)
    /// are not cancelled, but not awaited beyond the limit. Streams without end, such as those of events and WebSockets,
    /// run until the limit; so do lists, whose next page is refused.
    ///
    /// - Parameter limit: the time that requests may take to end.
    public func shutDown(within limit: Duration) -> Observable<Void, Never> {
        let scheduler = scheduler
        return Observable(scheduler: scheduler) { observer in
            guard observer.scope.isOpen else { return }
            // Without effect once no request is running.
            observer.scope.onClose { self.cancel(.all) }
            let timer = OperatorTimer(scheduler, in: observer.scope)
            timer.set(after: limit) {
                self.cancel(.all)
                self.running.abandonHandmade()
            }
            self.running.close {
                observer.scope.enter {
                    observer.next(())
                    observer.finish()
                }
            }
        }
    }
}

extension NetworkError {
    /// The error of a request that a client refuses because it has been shut down.
    static func shutDown(_ request: Request) -> NetworkError {
        var error = NetworkError(.shutDown, "the client has been shut down", request: request)
        error.isUnsent = true
        return error
    }
}
