import FoundationEssentials

/// A private Redis on loopback: on a free port, over TLS on another, and on a Unix socket.
///
/// It runs in a temporary folder and ends with ``kill()``, with its last reference, or with the end of the test process in
/// any way. ``start(_:)`` starts another one in its place, without its data unless both have ``persistence``.
public final class RedisServer: Sendable {
    /// A server that speaks the protocol.
    public enum Program: Sendable {
        case redis
        /// That of the variable `VALKEY`, which `Tests/services.sh` sets, or of the system. It has no TLS.
        case valkey

        /// Whether it can be run. `Tests/services.sh` installs Redis.
        public var isInstalled: Bool { path != nil }

        fileprivate var path: String? {
            let paths =
                switch self {
                case .redis: ["/usr/bin/redis-server", "/usr/local/bin/redis-server"]
                case .valkey:
                    [ProcessInfo.processInfo.environment["VALKEY"] ?? "", "/usr/bin/valkey-server"]
                }
            return paths.first { FileManager.default.isExecutableFile(atPath: $0) }
        }
    }

    /// Whether there is a Redis to run. `Tests/services.sh` installs one.
    public static var isInstalled: Bool { Program.redis.isInstalled }

    /// Redis did not start.
    public struct StartFailure: Error, CustomStringConvertible {
        /// Its output.
        public let description: String
    }

    /// The port on 127.0.0.1.
    public let port: UInt16
    /// The port for TLS on 127.0.0.1.
    public let tlsPort: UInt16
    private let folder: TemporaryFolder
    private let process: Process
    private let program: Program

    /// The running program, which ``start(_:)`` replaces.
    private actor Process {
        private var child: ChildProcess?

        func replace(by command: [String]) async throws {
            _ = try await child?.kill()
            let child = try ChildProcess(
                "/bin/sh", ["-c", RedisServer.script, "sh"] + command,
                environment: ["PATH": "/usr/bin:/bin:/usr/local/bin"])
            var lines: [String] = []
            while let line = try await child.nextLine() {
                lines.append(line)
                guard !line.contains("Ready to accept connections") else {
                    self.child = child
                    return
                }
            }
            throw StartFailure(description: lines.joined(separator: "\n"))
        }

        func kill() async throws {
            _ = try await child?.kill()
            child = nil
        }
    }

    /// The arguments of a Redis that loses nothing when it is killed.
    public static let persistence = ["--appendonly", "yes", "--appendfsync", "always"]

    /// Chooses the ports, makes the certificates and starts Redis.
    ///
    /// - Parameters:
    ///   - arguments: further arguments, such as `--maxmemory`, `1mb`.
    ///   - program: the server to run. Default: Redis.
    public init(_ arguments: [String] = [], program: Program = .redis) async throws {
        self.program = program
        folder = try TemporaryFolder()
        port = try ServerPort.free()
        tlsPort = try ServerPort.free()
        process = Process()
        let certificates = try ChildProcess("/bin/sh", ["-c", Self.certificateScript, "sh", folder.path])
        let record = try await certificates.ended()
        guard record.ending == .exited(0) else { throw StartFailure(description: record.errorText) }
        try await start(arguments)
    }

    /// Starts Redis anew; one that runs is killed.
    public func start(_ arguments: [String] = []) async throws {
        guard let path = program.path else {
            throw StartFailure(description: "no \(program) is installed")
        }
        var settings = [
            ("bind", "127.0.0.1"), ("port", "\(port)"), ("unixsocket", socketPath), ("save", ""),
            ("appendonly", "no"), ("dir", folder.path), ("enable-debug-command", "yes"),
            ("repl-diskless-sync-delay", "0"),
        ]
        if program == .redis {
            settings += [
                ("tls-port", "\(tlsPort)"), ("tls-cert-file", folder.file("server.pem")),
                ("tls-key-file", folder.file("server.key")), ("tls-ca-cert-file", authorityPath),
                ("tls-auth-clients", "no"),
            ]
        }
        let command = [path] + settings.flatMap { ["--" + $0, $1] } + arguments
        try await process.replace(by: command)
    }

    /// Starts a Sentinel in the place of Redis.
    public func startSentinel() async throws {
        guard let path = program.path else {
            throw StartFailure(description: "no \(program) is installed")
        }
        let file = try folder.file(
            "sentinel.conf", Array("port \(port)\nbind 127.0.0.1\ndir \(folder.path)\n".utf8))
        // A Sentinel does not say that it is ready.
        try await process.replace(
            by: [
                "/bin/sh", "-c",
                "\"$0\" \"$1\" --sentinel & until redis-cli -p \(port) ping; do sleep 0.02; done; echo Ready to accept connections; wait",
                path, file,
            ])
    }

    /// Kills Redis at once (SIGKILL).
    public func kill() async throws { try await process.kill() }

    /// The path of the Unix socket.
    public var socketPath: String { folder.file("redis.sock") }
    /// The path of the certificate of the authority, as PEM.
    public var authorityPath: String { folder.file("authority.pem") }

    /// The output of `redis-cli` with these arguments, without the last line end.
    @discardableResult
    public func command(_ words: [String]) async throws -> String {
        let child = try ChildProcess(
            "/usr/bin/env", ["redis-cli", "-p", "\(port)"] + words,
            environment: ["PATH": "/usr/bin:/usr/local/bin"])
        let record = try await child.ended()
        return record.text.hasSuffix("\n") ? String(record.text.dropLast()) : record.text
    }

    /// Reads its input to the end, which comes with the end of the test process, and then kills its process group.
    fileprivate static let script = #"{ "$@" </dev/null 2>&1; kill -KILL 0; } & cat >/dev/null; kill -KILL 0"#

    /// An authority, and a certificate for `localhost` and 127.0.0.1.
    private static let certificateScript = """
        cd "$1" && exec 2>&1 >certificates.log
        ec="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
        openssl req -x509 $ec -days 2 -keyout authority.key -out authority.pem -subj /CN=authority &&
            openssl req -new $ec -keyout server.key -out server.csr -subj /CN=localhost &&
            printf 'subjectAltName=DNS:localhost,IP:127.0.0.1' >names &&
            openssl x509 -req -in server.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days 2 \\
                -extfile names -out server.pem
        """
}
