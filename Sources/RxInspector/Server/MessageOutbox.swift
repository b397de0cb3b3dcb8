#if Inspector
import FlyingFox
import Synchronization

/// The messages that wait to be sent to one browser, up to a limit: a browser that reads too slowly is disconnected, so
/// that it costs the program no more memory.
///
/// Sending never waits. Safe from any thread.
final class MessageOutbox: Sendable {
    private struct Contents {
        var frames: [WSFrame] = []
        /// The index of the next frame to send.
        var first = 0
        var byteCount = 0
        var reader: CheckedContinuation<WSFrame?, Never>?
        var isFinished = false

        mutating func popFirst() -> WSFrame? {
            guard first < frames.count else { return nil }
            let frame = frames[first]
            first += 1
            byteCount -= frame.payload.count
            if first == frames.count {
                frames.removeAll(keepingCapacity: true)
                first = 0
            } else if first >= 1024 {
                frames.removeFirst(first)
                first = 0
            }
            return frame
        }
    }

    private let byteLimit: Int
    private let contents = Mutex(Contents())

    /// - Parameter byteLimit: the maximum number of bytes that wait.
    init(byteLimit: Int) { self.byteLimit = byteLimit }

    /// Whether the connection still takes messages.
    var isOpen: Bool { contents.withLock { !$0.isFinished } }

    /// The number of bytes that wait.
    var waitingCount: Int { contents.withLock { $0.byteCount } }

    /// Sends a text message.
    func send(_ text: JSON) { send(WSFrame(fin: true, opcode: .text, mask: nil, payload: text.data)) }

    /// Sends a frame, or ends the connection if too much is waiting.
    func send(_ frame: WSFrame) {
        let reader = contents.withLock { contents -> CheckedContinuation<WSFrame?, Never>? in
            guard !contents.isFinished else { return nil }
            if let reader = contents.reader.take() { return reader }
            guard contents.byteCount + frame.payload.count <= byteLimit else {
                contents.frames = []
                contents.first = 0
                contents.byteCount = 0
                contents.isFinished = true
                return nil
            }
            contents.frames.append(frame)
            contents.byteCount += frame.payload.count
            return nil
        }
        reader?.resume(returning: frame)
    }

    /// Ends the connection after the frames that wait.
    func finish() {
        let reader = contents.withLock { contents in
            contents.isFinished = true
            return contents.reader.take()
        }
        reader?.resume(returning: nil)
    }

    /// The next frame, as soon as there is one; `nil` at the end. Only one task may wait.
    func next() async -> WSFrame? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (reader: CheckedContinuation<WSFrame?, Never>) in
                let ready = contents.withLock { contents -> WSFrame?? in
                    if let frame = contents.popFirst() { return .some(frame) }
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
