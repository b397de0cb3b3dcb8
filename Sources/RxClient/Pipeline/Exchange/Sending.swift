import RxHTTP
import RxLite

/// Sends the request over the transport, or emits the response that an interceptor has given instead.
struct Sending: TransferStage, ResponseStage {
    func transfers(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<TransferEvent, NetworkError> {
        guard let response = next.response else {
            let events = call.client.transport.send(request)
            let (sentFields, onSend) = (request.sentFields, next.onSend)
            guard sentFields != nil || onSend != nil else { return events }
            return events.handleEvents(onSubscribe: {
                // The cache distinguishes variants by the fields that a request is sent with.
                sentFields?.note(request.headerFields)
                onSend?()
            })
        }
        var events: [TransferEvent] = response.interim.map { .interim($0) }
        events.append(.head(response.head))
        if !response.body.isEmpty { events.append(.chunk(response.body)) }
        if !response.trailers.isEmpty { events.append(.trailers(response.trailers)) }
        events.append(.finished(response.metrics))
        return .sequence(events)
    }
}
