#if Inspector
import FlyingFox
import FoundationEssentials

/// One WebSocket connection of a browser, as the routes see it.
protocol SocketSession: Sendable {
    /// Takes a text message. The next one is read when this returns.
    func receive(_ text: String) async
    /// The connection has ended.
    func close() async
}

extension HTTPResponse {
    /// Accepts a WebSocket, or refuses a request that asks for none (RFC 6455 §4.2.1).
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - open: makes the session, which sends by the outbox.
    static func webSocket(
        _ request: HTTPRequest, _ open: @escaping @Sendable (MessageOutbox) async -> any SocketSession
    ) async throws -> HTTPResponse {
        try await WebSocketHTTPHandler(handler: SessionFrames(open: open)).handleRequest(request)
    }
}

/// Reads the messages of a browser for a session, and passes on the frames of its outbox.
private struct SessionFrames: WSHandler {
    /// The maximum number of bytes of a message of a browser.
    static let messageLimit = 1 << 20
    /// The maximum number of bytes that wait for a browser.
    static let outboxLimit = 32 << 20

    let open: @Sendable (MessageOutbox) async -> any SocketSession

    func makeFrames(
        for client: AsyncThrowingStream<WSFrame, any Error>
    ) async throws -> AsyncStream<WSFrame> {
        let outbox = MessageOutbox(byteLimit: Self.outboxLimit)
        let session = await open(outbox)
        let reading = Task {
            var messages = MessageAssembly(limit: Self.messageLimit)
            reading: do {
                for try await frame in client {
                    switch messages.take(frame) {
                    case .none: continue
                    case .text(let text): await session.receive(text)
                    case .reply(let frame): outbox.send(frame)
                    case .end(let frame):
                        outbox.send(frame)
                        break reading
                    }
                    // A browser that does not read its replies is not read either.
                    guard outbox.isOpen else { break }
                }
            } catch {
                // The connection broke, or a frame was malformed: it ends either way.
            }
            outbox.finish()
            await session.close()
        }
        return AsyncStream {
            let frame = await outbox.next()
            if frame == nil { reading.cancel() }
            return frame
        } onCancel: {
            reading.cancel()
        }
    }
}
#endif
