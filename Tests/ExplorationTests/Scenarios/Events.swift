import HTTPTypes
import RxNetworking
import RxSimulation
import RxTesting

extension House {
    /// Fifty events, one a second, which an app reads from its last one on, whatever ends the stream.
    static let events: Simulation.Scenario = { simulation in
        let count = 50
        simulation.server(url) { request in
            let last = request[HTTPField.Name("Last-Event-ID")!].flatMap { Int($0) } ?? 0
            guard last < count else { return .status(.noContent) }
            var steps: [ScriptedTransport.Step] = [
                .head(ResponseHead(status: .ok, headerFields: [.contentType: "text/event-stream"]))
            ]
            // The event with the number n exists from second n on.
            var now = request.time
            let mayEnd = simulation.happens("the server ends the stream")
            for number in (last + 1)...count {
                if now < .seconds(number) {
                    steps.append(.wait(.seconds(number) - now))
                    now = .seconds(number)
                }
                steps.append(.chunk(Array("id: \(number)\ndata: \(number)\n\n".utf8)))
                if mayEnd, number % 4 == 0 { break }
            }
            return .init(steps + [.finish])
        }

        let last = Kept("")
        simulation.process { process in
            let client = Client(configuration: process.configuration(), transport: process.transport)
            follow(by: client, in: process, last)
        }

        simulation.expectEnds(of: "events")
        simulation.sometimes("a connection continues after the last event") { log in
            log.exchanges.contains { $0.request.headerFields[HTTPField.Name("Last-Event-ID")!] != nil }
        }
        simulation.invariant("every event once, in order") { log in
            let values = log.events.compactMap { event -> String? in
                if case .value(let text) = event.kind { text } else { nil }
            }
            let expected = (1...count).map(String.init)
            guard expected.starts(with: values) else { return ["\(values)"] }
            let isCancelled = log.subscriptions("events").last?.end == .cancelled
            return isCancelled || values == expected ? [] : ["only \(values.count) events arrived"]
        }
    }

    /// Reads events until the server says that there are no more.
    private static func follow(by client: Client, in process: SimulatedProcess, _ last: Kept<String>) {
        process.subscribe(
            "events", to: client.events(.get("/prices"), lastEventID: last.now).messages(),
            describing: { (event: ServerSentEvent) in event.data },
            onNext: { event in last { $0 = event.lastEventID } },
            onEnd: { isFinished in
                if !isFinished { process.after(.seconds(3)) { follow(by: client, in: process, last) } }
            })
    }
}
