import Foundation

/// The process that downloads, and that can be killed.
final class Probe {
    private let process = Process()
    private let output = Pipe()
    private var pending: [UInt8] = []

    /// Starts it. The executable stands beside the tests'.
    init(_ url: String, to path: String) throws {
        let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.executableURL = tests.deletingLastPathComponent().appendingPathComponent("download-probe")
        process.arguments = [url, path]
        process.environment = ["PATH": "/usr/bin", "no_proxy": "*"]
        process.standardOutput = output
        try process.run()
    }

    deinit { kill() }

    /// The next line it says; `nil` at its end.
    func line() -> String? {
        while true {
            if let end = pending.firstIndex(of: 0x0A) {
                defer { pending.removeSubrange(...end) }
                return String(decoding: pending[..<end], as: UTF8.self)
            }
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { return nil }
            pending += more
        }
    }

    /// The last line it says.
    func lastLine() -> String? {
        var last: String?
        while let line = line() { last = line }
        return last
    }

    /// Ends it at once (SIGKILL), and waits until it is gone.
    func kill() {
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }
}
