import TestServers

/// A program as the client under test. It reads URLs from its input and echoes on each of them.
struct ClientCommand: Sendable {
    private let process: ChildProcess
    private let server: AutobahnServer

    /// Starts the shell command.
    init(_ command: String, server: AutobahnServer) throws {
        process = try ChildProcess("/bin/sh", ["-c", "exec \(command)"])
        self.server = server
    }

    /// Has the program echo on the URL of the case, and returns when the case is over; false if the program has
    /// ended.
    func echo(port: UInt16, number: Int) async -> Bool {
        let url = "ws://127.0.0.1:\(port)\(AutobahnServer.path(of: number))"
        guard (try? process.write(url + "\n")) != nil else { return false }
        return await withTaskGroup(of: Bool.self) { group in
            // The longest limit of a case is 1,000 seconds.
            group.addTask { await server.outcome(of: number, within: .seconds(1100)) != nil }
            group.addTask { (try? await process.ended()) == nil }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }

    /// Ends the program and prints what it has written to its standard error.
    func end() async {
        process.closeInput()
        guard let record = try? await process.kill(), !record.errorText.isEmpty else { return }
        print(record.errorText)
    }
}
