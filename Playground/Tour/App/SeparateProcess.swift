import Foundation

/// A program in a separate process, which can be killed.
final class SeparateProcess: Sendable {
    /// The lines of its output, for one reader.
    let lines: AsyncStream<String>
    private let process = Process()
    private let hasEnded: AsyncStream<Void>

    init(_ path: String, _ arguments: [String]) throws {
        let output = Pipe()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.standardOutput = output
        let (ends, end) = AsyncStream<Void>.makeStream()
        hasEnded = ends
        process.terminationHandler = { _ in end.finish() }
        let (lines, writer) = AsyncStream<String>.makeStream()
        self.lines = lines
        try process.run()
        // A thread that may block.
        Thread.detachNewThread {
            var rest = ""
            while let data = try? output.fileHandleForReading.read(upToCount: 1), !data.isEmpty {
                guard data[0] == UInt8(ascii: "\n") else {
                    rest += String(decoding: data, as: UTF8.self)
                    continue
                }
                writer.yield(rest)
                rest = ""
            }
            writer.finish()
        }
    }

    deinit { Foundation.kill(process.processIdentifier, SIGKILL) }

    /// Kills it immediately (SIGKILL), and returns when it has ended.
    func kill() async {
        Foundation.kill(process.processIdentifier, SIGKILL)
        for await _ in hasEnded {}
    }
}
