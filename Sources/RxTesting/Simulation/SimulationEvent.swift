/// One thing that happened in a simulation.
public struct SimulationEvent: Hashable, Sendable, CustomStringConvertible {
    /// The kinds of events.
    public enum Kind: Hashable, Sendable {
        /// A request left the client.
        case sent
        /// A server acted on the request.
        case received
        /// The status of the response arrived.
        case head(Int)
        /// A process subscribed to a stream.
        case subscribed
        /// The stream sent a value.
        case value(String)
        /// The stream finished, or the exchange is complete.
        case finished
        /// The stream or the exchange failed, with this code.
        case failed(String)
        /// The subscriber cancelled the stream, or the client the exchange.
        case cancelled
        /// The process with the stream or the exchange was killed.
        case killed
        /// A process was started.
        case started
        /// A fault struck.
        case fault(Fault)
        /// The scenario noted something.
        case note(String)
    }

    /// The virtual time.
    public let time: Duration
    /// The request, subscription, process, server or subject of a note.
    public let subject: String
    /// The kind.
    public let kind: Kind

    /// Time, subject and kind on one line.
    public var description: String {
        let text =
            switch kind {
            case .sent: "sent"
            case .received: "received"
            case .head(let code): "\(code)"
            case .subscribed: "subscribed"
            case .value(let text): "value \(text)"
            case .finished: "finished"
            case .failed(let code): "failed: \(code)"
            case .cancelled: "cancelled"
            case .killed: "killed"
            case .started: "started"
            case .fault(let fault): "fault \(fault)"
            case .note(let text): text
            }
        return "\(time)  \(subject)  \(text)"
    }
}
