import Synchronization

/// A server on loopback that plays one case of the Autobahn test suite per connection, and judges the client.
///
/// The client opens `/runCase?case=N`, echoes every message with its type until the connection is closed, and
/// answers pings and close frames. `N` counts the cases of the server from 1:
///
/// ```swift
/// let server = try AutobahnServer(cases: AutobahnCase.all.filter { $0.section == 6 })
/// let outcomes = await server.run { port, number in
///     await echo("ws://127.0.0.1:\(port)/runCase?case=\(number)")
/// }
/// #expect(outcomes.allSatisfy(\.isOK))
/// ```
///
/// Its handshake, frames and compression share no code with the client of this package. Every wait has a
/// limit, so that a client that does nothing cannot keep it.
public final class AutobahnServer: Sendable {
    /// The port on 127.0.0.1.
    public let port: UInt16
    /// The cases that it plays.
    public let cases: [AutobahnCase]
    private let board = Board<[Int: AutobahnOutcome]>([:])
    private let stopping: Gate
    private let accepting: Mutex<JoinableThread?>

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - cases: the cases; by default all.
    ///   - messageLimit: the largest number of messages in a case of 9.7, 9.8, 12 and 13, where the suite
    ///     sends 1,000; `nil` for these.
    ///   - pace: the factors for the suite's times.
    public init(
        cases: [AutobahnCase] = AutobahnCase.all, messageLimit: Int? = nil, pace: Pace = Pace()
    ) throws(SystemError) {
        let listener = try Listener()
        let (stopping, board) = (try Gate(), board)
        self.stopping = stopping
        self.cases = cases
        port = listener.port
        let acceptor = ConnectionAcceptor(listener, stopping: stopping) { raw in
            let start = ContinuousClock.now
            let socket = CaseSocket(raw, stop: stopping)
            let played = CaseSession.serve(
                cases, over: socket, pace: pace, messageLimit: messageLimit ?? .max)
            guard let (number, observation) = played else { return }
            var outcome = Judge.outcome(of: cases[number - 1], observation)
            outcome.duration = start.duration(to: .now)
            board.update { $0[number] = outcome }
        }
        accepting = Mutex(try JoinableThread { acceptor.run() })
    }

    deinit { stop() }

    /// Closes all connections and returns when the threads have ended. Current waits fail.
    public func stop() {
        stopping.open()
        if let thread = accepting.withLock({ $0.take() }) { thread.join() }
        board.stop()
    }

    /// The path that plays a case, with its number counted from 1.
    public static func path(of number: Int) -> String { "/runCase?case=\(number)" }

    /// Runs the client for each case, one after the other, and returns the outcomes in this order.
    ///
    /// - Parameters:
    ///   - patience: the time that the client may take after a case is over, and a case after the client has
    ///     returned. Then the client is cancelled, or the case has failed.
    ///   - report: called with each outcome.
    ///   - client: connects to the port, asks for ``path(of:)`` with the number, and echoes until the end. It
    ///     may return before the end, and must return when its task is cancelled.
    public func run(
        patience: Duration = .seconds(10), report: (AutobahnOutcome) -> Void = { _ in },
        client: @escaping @Sendable (_ port: UInt16, _ number: Int) async -> Void
    ) async -> [AutobahnOutcome] {
        var outcomes: [AutobahnOutcome] = []
        for (index, tested) in cases.enumerated() {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { [port] in await client(port, index + 1) }
                group.addTask {
                    _ = await self.outcome(of: index + 1, within: tested.longest)
                    try? await Task.sleep(for: patience)
                }
                await group.next()
                group.cancelAll()
            }
            let outcome =
                await outcome(of: index + 1, within: patience) ?? Judge.outcome(of: tested, Observation())
            report(outcome)
            outcomes.append(outcome)
        }
        return outcomes
    }

    /// The outcome of a case by its number from 1, once it has ended; `nil` after this time.
    public func outcome(of number: Int, within limit: Duration) async -> AutobahnOutcome? {
        if let known = board.contents[number] { return known }
        return await withTaskGroup(of: AutobahnOutcome?.self) { [board] group in
            group.addTask { try? await board.until { $0[number] } }
            group.addTask {
                try? await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}
