import HTTPTypes
import RxHTTP
import RxLite
import Synchronization

/// The output of an upgraded connection. The head may be seen before the transport subscribes to the output, so
/// that the output keeps what is sent until then.
final class UpgradeOutput: Sendable {
    private typealias Output = Emitter<[UInt8], NetworkError>
    private enum State {
        case early([@Sendable (Output) -> Void])
        case subscribed(Output)
    }

    private let state = Mutex(State.early([]))

    var stream: Observable<[UInt8], NetworkError> {
        .create { emitter in
            let early = self.state.withLock { state in
                defer { state = .subscribed(emitter) }
                return if case .early(let early) = state { early } else { [] as [@Sendable (Output) -> Void] }
            }
            for action in early { action(emitter) }
        }
    }

    func send(_ bytes: [UInt8]) { perform { $0.send(bytes) } }
    func fail(_ error: NetworkError) { perform { $0.fail(error) } }
    var isPaused: Bool { emitter?.isPaused ?? false }

    private var emitter: Output? {
        state.withLock { if case .subscribed(let emitter) = $0 { emitter } else { nil } }
    }

    private func perform(_ action: @escaping @Sendable (Output) -> Void) {
        let emitter: Output? = state.withLock { state in
            switch state {
            case .subscribed(let emitter): return emitter
            case .early(let early):
                state = .early(early + [action])
                return nil
            }
        }
        if let emitter { action(emitter) }
    }
}

extension Request {
    /// A request for another protocol, and the output for it.
    static func upgrading(_ url: String) throws -> (Request, UpgradeOutput) {
        let output = UpgradeOutput()
        var request = try Request.to(url)
        request.headerFields[.upgrade] = "echo"
        request.headerFields[.connection] = "Upgrade"
        request.upgrade = ProtocolUpgrade(output: output.stream)
        return (request, output)
    }
}
