import RxNetworking
import RxSimulation
import RxTesting

extension House {
    /// A chat that sends numbered messages over as many connections as it takes.
    static let webSockets: Simulation.Scenario = { simulation in
        simulation.server(url) { _ in .webSocket(.send(.text("hello")), .echo) }

        simulation.process { process in
            let client = Client(configuration: process.configuration(), transport: process.transport)
            let sink = WebSocketSink(limit: 8)
            var settings = WebSocketSettings()
            settings.reconnection = .always()
            let start = Int(process.scheduler.now / .milliseconds(1))
            process.subscribe(
                "chat", to: client.webSocket("/chat", sending: sink, settings: settings).texts())
            process.every(.milliseconds(1500)) { turn in
                process.subscribe(
                    "send \(start + turn)", to: sink.send("\(start + turn)"), describing: { "sent" })
            }
            process.after(quietTime - process.scheduler.now) {
                process.subscribe("check", to: sink.send("check"), describing: { "sent" })
            }
        }

        simulation.invariant("every message is sent, fails or is cancelled, once") { log in
            log.subscriptions.filter { $0.name.hasPrefix("send") }.compactMap { message in
                let isRight = message.values == (message.end == .finished ? ["sent"] : [])
                return isRight && !message.isCutOff
                    ? nil : "\(message.place): \(message.values), \(String(describing: message.end))"
            }
        }
        simulation.invariant("no message arrives twice, or in the wrong order, or after it failed") { log in
            let failed = Set(
                log.subscriptions.compactMap { message -> String? in
                    if case .failed = message.end {
                        String(message.name.dropFirst("send ".count))
                    } else {
                        nil
                    }
                })
            return received(log).compactMap { process, messages in
                let numbers = messages.compactMap { Int($0) }
                let isOrdered = zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
                let isLie = messages.contains { failed.contains($0) }
                return isOrdered && !isLie ? nil : "\(process): \(messages)"
            }
        }
        simulation.sometimes("a second connection") { log in
            log.exchanges.count { $0.status == .switchingProtocols } > 1
        }
        simulation.invariant("what is sent over a whole connection arrives") { log in
            let texts = Set(received(log)[0].messages)
            let ends = sendTimes(log)
            return log.subscriptions.compactMap { message in
                let number = String(message.name.dropFirst("send ".count))
                guard message.name.hasPrefix("send"), !texts.contains(number), let time = ends[message.place],
                    log.exchanges.contains(where: { chat in
                        chat.outcome == .finished && chat.sentAt <= time && time < chat.endedAt ?? .zero
                    })
                else { return nil }
                return "\(message.place) was sent at \(time) and has not arrived"
            }
        }
        simulation.invariant("the chat connects again") { log in
            guard let chat = log.subscriptions("chat").last, chat.isCutOff else { return [] }
            return log.exchanges.contains { $0.messages.contains(.text("check")) }
                ? [] : ["the last message is lost"]
        }
        simulation.invariant("echoes are in order") { log in
            log.subscriptions("chat").compactMap { chat in
                let numbers = chat.values.compactMap { Int($0) }
                return zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 } ? nil : "\(chat.values)"
            }
        }
    }

    /// The times at which messages were reported as sent.
    private static func sendTimes(_ log: SimulationLog) -> [String: Duration] {
        var times: [String: Duration] = [:]
        for event in log.events where event.kind == .value("sent") { times[event.subject] = event.time }
        return times
    }

    /// The messages that the server received, in their order.
    private static func received(_ log: SimulationLog) -> [(process: String, messages: [String])] {
        let texts = log.exchanges.flatMap(\.messages).compactMap { message in
            if case .text(let text) = message { text } else { nil }
        }
        return [("app", texts)]
    }
}
