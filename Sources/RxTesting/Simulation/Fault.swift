/// Something that goes wrong in a simulation. Times count from the beginning of the run unless they say otherwise.
public enum Fault: Hashable, Sendable {
    /// The moments at which a connection can break.
    public enum Phase: Hashable, Sendable {
        /// No connection: not a byte of the request is sent.
        case beforeSending
        /// While the request is sent; the server does not act on it.
        case duringUpload
        /// The server has acted on the request, but no byte of its response arrives.
        case beforeHead
        /// After the head and this share of the body, in percent.
        case inBody(percent: Int)
        /// This long after the response has begun, if it has not ended by then: for streams and WebSockets.
        case open(for: Duration)
    }

    /// The request reaches the server later than usual, so that others overtake it.
    case requestDelay(Duration)
    /// The response arrives later than usual.
    case responseDelay(Duration)
    /// The connection breaks.
    case reset(Phase)
    /// The response ends after this share of its body, in percent.
    case truncation(percent: Int)
    /// A gateway answers with this status, and the server does not see the request. `retryAfter` is the value of
    /// `Retry-After`, in seconds.
    case status(Int, retryAfter: Int? = nil)
    /// An event that the scenario defines: ``Simulation/happens(_:)`` returns true.
    case event
    /// The wall clock is set forward or back; monotonic time is not affected.
    case clockJump(at: Duration, by: Duration)
    /// A server accepts no connection for a time, and its open ones break.
    case outage(at: Duration, for: Duration)
    /// A process is killed and started again: files and other stores stay, memory is lost.
    case restart(at: Duration)
    /// A subscriber cancels, this long after it has subscribed.
    case cancel(after: Duration)
    /// A subscriber pauses for a time after each value.
    case slowReader(Duration)

    /// The kinds of faults.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case delay, reset, truncation, status, event, clockJump, outage, restart, cancel, slowReader
    }

    /// The kind.
    public var kind: Kind {
        switch self {
        case .requestDelay, .responseDelay: .delay
        case .reset: .reset
        case .truncation: .truncation
        case .status: .status
        case .event: .event
        case .clockJump: .clockJump
        case .outage: .outage
        case .restart: .restart
        case .cancel: .cancel
        case .slowReader: .slowReader
        }
    }
}

extension Fault: CustomStringConvertible {
    /// The Swift expression of the fault, for tests.
    public var description: String {
        switch self {
        case .requestDelay(let delay): ".requestDelay(\(delay.source))"
        case .responseDelay(let delay): ".responseDelay(\(delay.source))"
        case .reset(.beforeSending): ".reset(.beforeSending)"
        case .reset(.duringUpload): ".reset(.duringUpload)"
        case .reset(.beforeHead): ".reset(.beforeHead)"
        case .reset(.inBody(let percent)): ".reset(.inBody(percent: \(percent)))"
        case .reset(.open(let time)): ".reset(.open(for: \(time.source)))"
        case .truncation(let percent): ".truncation(percent: \(percent))"
        case .status(let code, nil): ".status(\(code))"
        case .status(let code, let seconds?): ".status(\(code), retryAfter: \(seconds))"
        case .event: ".event"
        case .clockJump(let time, let change): ".clockJump(at: \(time.source), by: \(change.source))"
        case .outage(let time, let length): ".outage(at: \(time.source), for: \(length.source))"
        case .restart(let time): ".restart(at: \(time.source))"
        case .cancel(let delay): ".cancel(after: \(delay.source))"
        case .slowReader(let pause): ".slowReader(\(pause.source))"
        }
    }
}

extension Duration {
    /// The Swift expression of the duration.
    var source: String {
        let count = milliseconds
        return count % 1000 == 0 ? ".seconds(\(count / 1000))" : ".milliseconds(\(count))"
    }

    /// The whole milliseconds.
    var milliseconds: Int { Int(self / .milliseconds(1)) }
}
