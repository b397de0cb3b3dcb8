#if Inspector
import FlyingSocks
import FoundationEssentials
import RxWebSocket
import Synchronization

/// One WebSocket connection of a browser, as the routes see it.
protocol SocketSession: Sendable {
    /// Takes a text message. The next one is read when this returns.
    func receive(_ text: String) async
    /// The connection has ended.
    func close() async
}

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
        // The outbox ends when too many replies wait: a browser that does not read them is not read either.
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

/// The frames that wait to be sent to one browser, up to a limit: a browser that reads too slowly is disconnected, so
/// that it costs the program no more memory.
///
/// Sending never waits. Safe from any thread.
final class MessageOutbox: Sendable {
    private struct Contents {
        var bytes: [UInt8] = []
        /// The number of bytes that are being written.
        var writtenCount = 0
        var reader: CheckedContinuation<[UInt8]?, Never>?
        var isFinished = false

        mutating func takeAll() -> [UInt8] {
            defer { bytes = [] }
            writtenCount = bytes.count
            return bytes
        }
    }

    private let byteLimit: Int
    private let contents = Mutex(Contents())

    /// - Parameter byteLimit: the maximum number of bytes that wait.
    init(byteLimit: Int) { self.byteLimit = byteLimit }

    /// Whether the connection still takes messages.
    var isOpen: Bool { contents.withLock { !$0.isFinished } }

    /// The number of bytes that wait.
    var waitingCount: Int { contents.withLock { $0.bytes.count + $0.writtenCount } }

    /// Sends a text message.
    func send(_ text: JSON) {
        var frame: [UInt8] = []
        frame.append(text: text.bytes)
        send(frames: frame)
    }

    /// Sends text messages.
    func send(_ texts: [[UInt8]]) {
        guard !texts.isEmpty else { return }
        var frames: [UInt8] = []
        // With the longest head of a frame.
        frames.reserveCapacity(texts.reduce(0) { $0 + $1.count + 10 })
        for text in texts { frames.append(text: text) }
        send(frames: frames)
    }

    /// Sends frames, or ends the connection if too much is waiting.
    func send(frames: [UInt8]) {
        let reader = contents.withLock { contents -> (CheckedContinuation<[UInt8]?, Never>, [UInt8]?)? in
            guard !contents.isFinished else { return nil }
            guard contents.bytes.count + contents.writtenCount + frames.count <= byteLimit else {
                contents.bytes = []
                contents.isFinished = true
                return contents.reader.take().map { ($0, nil) }
            }
            contents.bytes += frames
            guard let reader = contents.reader.take() else { return nil }
            return (reader, contents.takeAll())
        }
        if let (reader, bytes) = reader { reader.resume(returning: bytes) }
    }

    /// Ends the connection after the frames that wait.
    func finish() {
        let reader = contents.withLock { contents in
            contents.isFinished = true
            return contents.reader.take()
        }
        reader?.resume(returning: nil)
    }

    /// All frames that wait, as soon as there are any; `nil` at the end. Those of the call before have been written. Only
    /// one task may wait.
    func next() async -> [UInt8]? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (reader: CheckedContinuation<[UInt8]?, Never>) in
                let ready = contents.withLock { contents -> [UInt8]?? in
                    contents.writtenCount = 0
                    if !contents.bytes.isEmpty { return .some(contents.takeAll()) }
                    if contents.isFinished { return .some(nil) }
                    contents.reader = reader
                    return nil
                }
                if let ready { reader.resume(returning: ready) }
            }
        } onCancel: {
            finish()
        }
    }
}
#endif
