import Foundation

/// Writes lines in order, on a separate thread: a slow reader delays nothing else.
final class Output: Sendable {
    private let state: Queue

    /// Guarded by the condition.
    private final class Queue: @unchecked Sendable {
        // Unchecked: `lines` and `isClosed` are touched only while the condition is locked.
        let condition = NSCondition()
        var lines: [@Sendable () -> Data] = []
        var isClosed = false

        /// The next line; `nil` once all have been taken and no more will come.
        func next() -> (@Sendable () -> Data)? {
            condition.lock()
            defer { condition.unlock() }
            while lines.isEmpty && !isClosed { condition.wait() }
            return lines.isEmpty ? nil : lines.removeFirst()
        }

        func change(_ change: (Queue) -> Void) {
            condition.lock()
            change(self)
            condition.signal()
            condition.unlock()
        }
    }

    private let ended = DispatchSemaphore(value: 0)

    init(to handle: FileHandle) {
        state = Queue()
        Thread { [state, ended] in
            while let line = state.next() {
                // The reader has closed its end.
                do { try handle.write(contentsOf: line() + Data("\n".utf8)) } catch { break }
            }
            ended.signal()
        }
        .start()
    }

    /// Writes one JSON object. It is encoded on the writing thread.
    func write(_ line: some Encodable & Sendable) {
        state.change { queue in
            queue.lines.append {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                return (try? encoder.encode(line)) ?? Data(#"{"error":"internal","message":"no JSON"}"#.utf8)
            }
        }
    }

    /// Returns when all lines have been written.
    func close() {
        state.change { $0.isClosed = true }
        ended.wait()
    }
}
