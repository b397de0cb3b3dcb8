public import HTTPTypes
public import RxHTTP
public import RxWebSocket

/// One exchange of a simulation, from the sending to its end.
public struct SimulatedExchange: Sendable {
    /// The outcome of an exchange, as the client saw it.
    public typealias Outcome = ScriptedTransport.Exchange.Outcome

    /// Its name: method and path, and a number that counts such requests from 1, as in `GET /cart #2`.
    public let place: String
    /// The process that sent it.
    public let process: String
    /// The request as it was sent.
    public let request: Request
    /// The virtual time at which it was sent.
    public let sentAt: Duration
    /// The virtual time at which the server acted on it; `nil` if it did not reach the server.
    public internal(set) var receivedAt: Duration?
    /// The status of the response, whether it arrived or not; `nil` if nobody answered.
    public internal(set) var status: HTTPResponse.Status?
    /// The virtual time of the end; `nil` while it runs.
    public internal(set) var endedAt: Duration?
    /// Its outcome so far.
    public internal(set) var outcome = Outcome.running
    /// The messages that the server received over a WebSocket.
    public internal(set) var messages: [WebSocketMessage] = []
}
