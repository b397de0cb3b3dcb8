import RxHTTP
import RxLite

extension Client {
    /// Runs a call at each subscription: the stages applied to the endpoint's request. Everything except
    /// ``exchange(_:following:usesCookies:)`` is built on this.
    ///
    /// - Parameter result: the subscriber's value for an event; `nil` for an event that such a call does not
    ///   emit.
    func call<T>(
        _ kind: CallKind, _ endpoint: any Endpoint, _ settings: CallSettings = CallSettings(),
        as result: @escaping @Sendable (CallEvent) -> T?
    ) -> Observable<T, NetworkError> {
        let scheduler = scheduler
        return Observable(scheduler: scheduler) { observer in
            let call: CallContext
            do throws(NetworkError) {
                call = try CallContext(
                    kind, endpoint, of: self, on: scheduler, in: observer.scope.lane, settings)
            } catch {
                return observer.scope.perform { observer.fail(error) }
            }
            // Not a `map`, whose metadata the runtime would have to look up for each type of result.
            Next(of: call)(call.prepared.request).subscribe(
                Observer(
                    scope: observer.scope, target: observer.scope,
                    receive: { event, _ in
                        if let value = result(event) {
                            observer.next(value)
                        } else {
                            observer.fail(call.misplaced(event))
                        }
                    }, end: observer.end))
        }
    }

    /// A call with a typed result.
    func typed<E: Endpoint, T: Sendable>(
        _ endpoint: E, _ kind: CallKind = .request, _ settings: CallSettings = CallSettings(),
        as result: @escaping @Sendable (TypedResponse<E.Output>) -> T
    ) -> Observable<T, NetworkError> {
        var settings = settings
        settings.decode = { response throws(NetworkError) in
            result(try endpoint.typedResponse(from: response))
        }
        return call(kind, endpoint, settings) { event in
            if case .output(let output) = event { output as? T } else { nil }
        }
    }

    /// Repeats the request of `call`, to refresh the stored response.
    func refreshed(_ call: CallContext) -> Observable<Response, NetworkError> {
        guard let endpoint = call.endpoint else { return .empty() }
        return refreshed(
            endpoint, CallSettings(page: call.settings.page, account: call.account, isRefresh: true))
    }

    private func refreshed(
        _ endpoint: some Endpoint, _ settings: CallSettings
    ) -> Observable<Response, NetworkError> {
        typed(endpoint, .request, settings) { $0.response }
    }
}

extension CallContext {
    /// The error for an event that the kind of call does not emit; only an interceptor can have made it.
    func misplaced(_ event: CallEvent) -> NetworkError {
        let kind =
            switch event {
            case .transfer: "an event of a transfer"
            case .response: "a whole response"
            case .output(let output): "\(type(of: output))"
            }
        return attributed(
            NetworkError(
                .invalidResponse,
                "an interceptor emitted \(kind), which a call of the kind \(self.kind) cannot emit"))
    }
}
