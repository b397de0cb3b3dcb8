import RxHTTP
import RxLite

/// A transport that notes which fields a request is sent with, next to the network.
struct NotingTransport: Transport {
    let transport: any Transport
    let sentFields: SentFields

    var scheduler: any Scheduler { transport.scheduler }
    var hsts: HSTSStore? { transport.hsts }

    func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        transport.send(request).handleEvents(onSubscribe: { sentFields.note(request.headerFields) })
    }
}
