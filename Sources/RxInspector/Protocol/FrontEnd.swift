#if Inspector
/// One connected front end: its commands, and the events it has asked for.
final class FrontEnd: SocketSession {
    let outbox: MessageOutbox
    private let recorder: TrafficRecorder

    init(_ outbox: MessageOutbox, _ recorder: TrafficRecorder) {
        self.outbox = outbox
        self.recorder = recorder
    }

    func receive(_ text: String) async {
        let command: Command
        do throws(Command.Failure) {
            command = try Command(text)
        } catch {
            return outbox.send(["error": error.document])
        }
        do throws(Command.Failure) {
            let result =
                command.method.hasPrefix("Network.")
                ? try await recorder.answer(command, of: self) : try OtherDomains.answer(command)
            outbox.send(command.reply(.success(result)))
        } catch {
            outbox.send(command.reply(.failure(error)))
        }
    }

    func close() async { await recorder.leave(self) }
}

extension InspectorRoute {
    /// The WebSocket of the DevTools protocol.
    static func devTools(_ site: InspectorSite) -> InspectorRoute {
        InspectorRoute("devtools/page/\(site.targetID)") { request, site in
            .webSocket(request) { outbox in FrontEnd(outbox, site.recorder) }
        }
    }
}
#endif
