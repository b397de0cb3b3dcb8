import FoundationEssentials

/// A server in a separate process on a port of 127.0.0.1, with its output as a log.
///
/// It ends with ``kill()``, with its last reference, or with the end of the test process in any way.
public final class Service: Sendable {
    /// The folder of the programs that `Tests/services.sh` or `Tests/transfers.sh` has installed; `nil` if neither runs the
    /// tests.
    public static let programs = ProcessInfo.processInfo.environment["SERVICES"]

    /// The port it listens on.
    public let port: UInt16
    /// The lines it has written so far.
    public let log: Board<[String]>
    private let process: ChildProcess

    /// `http://127.0.0.1:port`, without a slash at the end.
    public var baseURL: String { "http://127.0.0.1:\(port)" }

    /// Starts a program and returns once it has written a line that contains `ready`.
    ///
    /// - Parameter port: the port it listens on; `nil` if that line contains it.
    public init(
        _ command: [String], environment: [String: String] = [:], port: UInt16? = nil, ready: String
    ) async throws {
        let inherited = ["PATH": "/usr/sbin:/usr/local/bin:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"]
        let process = try ChildProcess(
            "/bin/sh", ["-c", Self.script, "sh"] + command,
            environment: inherited.merging(environment) { $1 })
        let log = Board<[String]>([])
        Task {
            while let line = try? await process.nextLine() { log.update { $0.append(line) } }
            log.stop()
        }
        (self.process, self.log) = (process, log)
        do {
            let line = try await log.until { lines in lines.first { $0.contains(ready) } }
            self.port = try port ?? Self.port(in: line)
        } catch {
            throw StartFailure(output: log.contents.joined(separator: "\n"))
        }
    }

    /// Kills it at once (SIGKILL), and its children, and waits until it is gone.
    public func kill() async throws { try await process.kill() }

    /// The first result of `look` for a line, as soon as there is one.
    public func line<Result: Sendable>(_ look: @escaping @Sendable (String) -> Result?) async throws -> Result
    {
        try await log.until { lines in lines.lazy.compactMap(look).first }
    }

    /// The number of lines that contain `text`.
    public func count(of text: String) -> Int { log.contents.count { $0.contains(text) } }

    /// Reads its input to the end, which comes with the end of the test process, and then kills its process
    /// group.
    private static let script = #"{ "$@" </dev/null 2>&1; kill -KILL 0; } & cat >/dev/null; kill -KILL 0"#

    private static func port(in line: String) throws -> UInt16 {
        let address = "127.0.0.1:"
        guard let start = line.firstRange(of: address)?.upperBound,
            let port = UInt16(line[start...].prefix { $0.isNumber })
        else { throw StartFailure(output: line) }
        return port
    }

    /// The program ended before it was ready, or reported no port.
    public struct StartFailure: Error {
        /// Its output.
        public let output: String
    }
}
