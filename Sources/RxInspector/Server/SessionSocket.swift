#if Inspector
import FlyingSocks
import FoundationEssentials
import RxWebSocket

/// The WebSocket of a browser after its handshake: reads the messages for a session, and writes those of its outbox.
struct SessionSocket: Sendable {
    /// The maximum number of bytes of a message of a browser.
    static let messageLimit = 1 << 20

    let socket: AsyncSocket
    let outbox: MessageOutbox
    let session: any SocketSession

    /// Moves messages until either side ends the connection. After that nothing uses the socket.
    ///
    /// - Parameter rest: the bytes that came together with the handshake.
    func run(_ rest: [UInt8]) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await read(rest)
                outbox.finish()
            }
            await write()
            group.cancelAll()
        }
        await session.close()
    }

    private func write() async {
        do {
            while let bytes = await outbox.next() { try await socket.write(Data(bytes)) }
        } catch {
            // The browser is gone, or does not read.
            outbox.finish()
        }
    }

    private func read(_ rest: [UInt8]) async {
        var state = WebSocketConnectionState(
            role: .server, limits: WebSocketLimits(messageBytes: Self.messageLimit))
        var bytes = rest
        // A browser that does not read its replies is not read either.
        while outbox.isOpen {
            var inputs: [WebSocketInput] = []
            var replies: [UInt8] = []
            state.receive(bytes, replies: &replies) { inputs.append($0) }
            for case .message(.text(let text)) in inputs { await session.receive(text) }
            if !replies.isEmpty { outbox.send(frames: replies) }
            guard !state.isClosed else { return }
            do {
                bytes = try await socket.read(atMost: 4096)
            } catch {
                return
            }
        }
    }
}
#endif
