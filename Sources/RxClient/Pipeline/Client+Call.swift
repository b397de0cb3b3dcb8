import RxHTTP
import RxLite

extension Client {
    /// Runs a call at each subscription. Everything except ``exchange(_:following:usesCookies:)`` is built on this.
    ///
    /// - Parameter make: the subscriber's value for an event; `nil` for an event that such a call does not emit.
    func call<Output>(
        _ kind: CallKind, _ endpoint: any Endpoint, _ settings: CallSettings = CallSettings(),
        as make: @escaping CallRun<Output>.Make
    ) -> Observable<Output, NetworkError> {
        let scheduler = scheduler
        return Observable(scheduler: scheduler) { observer in
            guard observer.scope.isOpen else { return }
            let call: CallContext
            do throws(NetworkError) {
                call = try CallContext(
                    kind, endpoint, of: self, on: scheduler, in: observer.scope.lane, settings)
            } catch {
                return observer.scope.perform { observer.fail(error) }
            }
            CallRun(call, into: observer, make).start()
        }
    }

    /// A call with a typed result. Its response is stored once the output has been made.
    func typed<E: Endpoint, T: Sendable>(
        _ endpoint: E, _ kind: CallKind = .request, _ settings: CallSettings = CallSettings(),
        as result: @escaping @Sendable (TypedResponse<E.Output>) -> T
    ) -> Observable<T, NetworkError> {
        call(kind, endpoint, settings) { event, call throws(NetworkError) -> T? in
            guard case .response(let response) = event else { return nil }
            let part = call.prepared.options.part?.keys ?? []
            let output = try endpoint.typedResponse(from: part.isEmpty ? response : response.at(part))
            call.cached?.keepNoted()
            call.trace?.tellOutput()
            return result(output)
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

extension Response {
    /// The response with its content at `part`, relative to the former place.
    fileprivate func at(_ part: [String]) -> Response {
        var response = self
        response.payloadPath += part
        return response
    }
}
