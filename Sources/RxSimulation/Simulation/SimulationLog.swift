public import HTTPTypes
public import RxHTTP
public import RxTesting
public import RxWebSocket

/// All that happened in one run of a simulation: the material of its invariants.
public struct SimulationLog: Sendable {
    /// The events, in their order.
    public internal(set) var events: [SimulationEvent] = []
    /// The exchanges, in the order in which they were sent.
    public internal(set) var exchanges: [SimulatedExchange] = []
    /// The subscriptions, in the order in which they began.
    public internal(set) var subscriptions: [SimulatedSubscription] = []

    /// The faults of a given list that had no effect, because the run reached no such place or because faults of that kind
    /// do not strike there. Empty if a seed has chosen the faults.
    public internal(set) var unreachedFaults: [PlacedFault] = []

    /// The subscriptions with this name.
    public func subscriptions(_ name: String) -> [SimulatedSubscription] {
        subscriptions.filter { $0.name == name }
    }

    /// The exchanges of requests with this method and path, such as `GET /cart`.
    public func exchanges(_ request: String) -> [SimulatedExchange] {
        // ``Simulation/nextPlace(_:)`` adds the number.
        exchanges.filter { $0.place.hasPrefix(request + " #") }
    }

    /// The notes about a subject.
    public func notes(_ subject: String) -> [String] {
        events.compactMap { event in
            if event.subject == subject, case .note(let text) = event.kind { text } else { nil }
        }
    }
}

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
    /// The status of the response, whether it arrived or not; `nil` without a response.
    public internal(set) var status: HTTPResponse.Status?
    /// The virtual time of the end; `nil` while it runs.
    public internal(set) var endedAt: Duration?
    /// Its outcome so far.
    public internal(set) var outcome = Outcome.running
    /// The messages that the server received over a WebSocket.
    public internal(set) var messages: [WebSocketMessage] = []
}

extension SimulationLog {
    /// The run as a marble diagram: a line for the faults, for each kind of request, for each subscription and for each
    /// subject of notes, and a legend of the faults and values.
    ///
    /// | Mark | Meaning |
    /// |---|---|
    /// | `^` | a request is sent, a subscription begins |
    /// | `s` | the server acts on the request |
    /// | `2` … `5` | the first digit of the response's status |
    /// | a letter | a value or a note |
    /// | `\|`, `#`, `!` | the end, a failure, a cancel |
    /// | `x` | a fault; a process is killed |
    ///
    /// Events at one instant stand in parentheses; long waits are written as a time.
    public var diagram: String {
        var rows = DiagramRows()
        for event in events { rows.add(event) }
        return rows.text
    }
}

/// The rows of a diagram while they are gathered.
private struct DiagramRows {
    private var names: [String] = []
    private var cells: [String: [Duration: String]] = [:]
    private var letters: [String: Character] = [:]
    /// The letters for values and notes. `s` and `x` are missing, since they are marks of events.
    private var spare = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrtuvwyz".reversed())
    private var legend: [String] = []

    mutating func add(_ event: SimulationEvent) {
        var row = event.subject.withoutNumber
        // ``SimulationLog/diagram`` explains the marks.
        let mark: String
        switch event.kind {
        case .sent, .subscribed, .started: mark = "^"
        case .received: mark = "s"
        case .head(let code): mark = "\(code / 100)"
        case .value(let text), .note(let text): mark = letter(for: text)
        case .finished: mark = "|"
        case .failed: mark = "#"
        case .cancelled: mark = "!"
        case .killed: mark = "x"
        case .fault(let fault):
            row = "faults"
            mark = "x"
            legend.append("x at \(event.time): \(event.subject) \(fault)")
        }
        if cells[row] == nil { names.append(row) }
        cells[row, default: [:]][event.time, default: ""] += mark
    }

    private mutating func letter(for text: String) -> String {
        if let letter = letters[text] { return String(letter) }
        guard let letter = spare.popLast() else { return "*" }
        letters[text] = letter
        let short = text.count > 80 ? text.prefix(80) + "…" : text[...]
        legend.append("\(letter) = \(short)")
        return String(letter)
    }

    var text: String {
        let names = (cells["faults"] == nil ? [] : ["faults"]) + names.filter { $0 != "faults" }
        let cells = cells.mapValues { row in row.mapValues { $0.count > 1 ? "(\($0))" : $0 } }
        let times = Set(cells.values.flatMap(\.keys)).sorted()
        let width = names.map(\.count).max() ?? 0
        var lines = names.map { $0 + String(repeating: " ", count: width - $0.count + 2) }
        var due = Duration.zero
        for time in times {
            let frames = (time - due).milliseconds
            let wait = frames > 5 ? " \((time - due)) " : String(repeating: "-", count: max(0, frames))
            let columns = names.map { cells[$0]?[time] ?? "" }
            let length = columns.map(\.count).max() ?? 0
            for (index, cell) in columns.enumerated() {
                lines[index] += wait + cell + String(repeating: "-", count: length - cell.count)
            }
            due = time + .milliseconds(1)
        }
        return (lines + [""] + legend).joined(separator: "\n")
    }
}

extension String {
    /// The name of a place without its number.
    fileprivate var withoutNumber: String {
        guard let mark = range(ofLast: " #") else { return self }
        return String(self[..<mark])
    }

    private func range(ofLast text: String) -> Index? {
        var index = endIndex
        while index > startIndex {
            index = self.index(before: index)
            if self[index...].hasPrefix(text) { return index }
        }
        return nil
    }
}
