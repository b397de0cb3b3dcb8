import HTTPTypes
import RxHTTP
import RxLite
import RxWebSocket

/// Makes a WebSocket of the exchange: one connection.
final class WebSocketReading: Interceptor {
    let settings: WebSocketSettings
    let outlet: WebSocketOutlet?
    /// The messages to send before those of the outbox.
    let resumption: (@Sendable (WebSocketOpening) -> [WebSocketMessage])?

    init(
        _ settings: WebSocketSettings, _ outlet: WebSocketOutlet?,
        resumption: (@Sendable (WebSocketOpening) -> [WebSocketMessage])?
    ) {
        self.settings = settings
        self.outlet = outlet
        self.resumption = resumption
    }

    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        Observable(scheduler: call.scheduler) { [self] observer in
            guard observer.scope.isOpen else { return }
            guard request.method == .get else {
                let message = "a WebSocket is opened by GET, not by \(request.method.rawValue)"
                let failure = NetworkError(.invalidConfiguration, message, request: request)
                return observer.scope.perform { observer.fail(failure) }
            }
            var random = Chance()
            let handshake: WebSocketHandshake
            do throws(WebSocketHandshakeError) {
                handshake = try WebSocketHandshake(
                    subprotocols: settings.subprotocols, compression: settings.compression, using: &random)
            } catch {
                let failure = NetworkError(.invalidHeader, "\(error)", request: request)
                return observer.scope.perform { observer.fail(failure) }
            }
            WebSocketConnection(self, in: call, into: observer).start(request, handshake, next)
        }
    }
}
