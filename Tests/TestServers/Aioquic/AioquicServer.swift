import FoundationEssentials

/// A private aioquic server on loopback for HTTP/3 only; its program is `Tests/Services/quic.py`.
///
/// It ends with ``kill()``, with the last reference, or with the process.
///
/// | Path | |
/// |---|---|
/// | `/echo` | the text `HTTP/3` |
/// | `/large?count=` | `count` bytes from the start of ``NginxServer/large`` |
/// | `/sent` | the number of bytes of `/large` that have been sent or queued so far |
/// | `/upload` | the number of bytes of the content, and its SHA-256 |
/// | `/hold` | the same, but the window stays closed until ``Command/release`` |
/// | `/early` | status 413 immediately; the content is refused |
/// | `/stall?count=` | a head, with the length `count` if given, and the bytes `some`; the rest waits for a ``Command`` |
/// | `/silent` | nothing; the response waits for a ``Command`` |
/// | `/hints` | status 103, then `ok` and the trailer field `x-sum` |
/// | `/fields?count=` | `count` fields, `x-0: value 0` and so on, and `ok` |
/// | `/short` | half of the announced length |
/// | `/cut` | half of a DATA frame |
/// | `/rejected` | a reset with `H3_REQUEST_REJECTED` |
public final class AioquicServer: Sendable {
    /// The program did not start.
    public struct StartFailure: Error, CustomStringConvertible {
        /// The error output of the program.
        public let description: String
    }

    /// A change in the behaviour of the server.
    public enum Command: Sendable {
        /// Resets the streams of `/stall` and `/silent` with this error code.
        case reset(Int)
        /// Ends the responses of `/stall` and `/silent`, with the bytes ` more`.
        case finish
        /// Opens the window for `/hold`.
        case release
        /// Sends GOAWAY on each connection, and rejects later requests on it.
        case goAway
        /// Closes each connection with this error code.
        case close(Int)
        /// Updates the keys of each connection.
        case updateKeys

        var line: String {
            switch self {
            case .reset(let code): "reset \(code)\n"
            case .finish: "finish\n"
            case .release: "release\n"
            case .goAway: "goaway\n"
            case .close(let code): "close \(code)\n"
            case .updateKeys: "keys\n"
            }
        }
    }

    /// Options of a server.
    public enum Option: String, Sendable {
        /// Each client must prove its address with a Retry packet.
        case retry = "--retry"
        /// The server speaks QUIC version 2 (RFC 9369) and no other.
        case version2 = "--quic=2"
    }

    /// A Python with aioquic; `nil` if `Tests/libcurl.sh` has not installed it.
    private static let python = ProcessInfo.processInfo.environment["QUIC_PYTHON"]
    /// Whether aioquic is installed.
    public static let isInstalled = python != nil

    private static var program: String {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return tests.appending(path: "Services/quic.py").path
    }

    /// The UDP port.
    public let port: UInt16
    /// One line for each event so far; `quic.py` describes them.
    public let log: Board<[String]>
    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// `https://localhost:port`, without a trailing slash.
    public var baseURL: String { "https://localhost:\(port)" }
    /// The path of its self-signed certificate for localhost and 127.0.0.1, as PEM.
    public var certificatePath: String { folder.file("certificate.pem") }

    /// Starts the program and returns once it serves requests.
    public init(_ options: [Option] = []) async throws {
        folder = try TemporaryFolder()
        process = try ChildProcess(
            "/bin/sh",
            ["-c", Self.script, "sh", Self.python ?? "python3", Self.program, "certificate.pem", "key.pem"]
                + options.map(\.rawValue),
            environment: [
                "FOLDER": folder.path, "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1",
            ])
        let first = try await process.nextLine()
        guard let first, first.hasPrefix("ready "), let port = UInt16(first.dropFirst(6)) else {
            throw StartFailure(description: try await process.kill().errorText)
        }
        self.port = port
        let log = Board<[String]>([])
        Task { [process] in
            while let line = try? await process.nextLine() { log.update { $0.append(line) } }
            log.stop()
        }
        self.log = log
    }

    deinit { process.closeInput() }

    /// Makes the certificate, then executes the program, which ends with its input: at the latest with the
    /// test process.
    private static let script = """
        cd "$FOLDER" && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
            -keyout key.pem -out certificate.pem -subj /CN=localhost \
            -addext subjectAltName=DNS:localhost,IP:127.0.0.1 >&2 || exit 1
        exec "$@"
        """
}

extension AioquicServer {
    /// Sends a command; returns before the server has executed it.
    public func give(_ command: Command) throws { try process.write(command.line) }

    /// Waits for at least `count` lines with the event `name`, such as `connected`, and returns their other
    /// words.
    @discardableResult
    public func events(_ name: String, atLeast count: Int = 1) async throws -> [[Substring]] {
        try await log.until { lines in
            let found = Self.events(name, in: lines)
            return found.count >= count ? found : nil
        }
    }

    /// Returns the number of connections once at least `count` requests have arrived.
    public func connections(afterRequests count: Int) async throws -> Int {
        try await events("request", atLeast: count)
        return self.count(of: "connected")
    }

    /// The number of events with this name so far.
    public func count(of name: String) -> Int { Self.events(name, in: log.contents).count }

    /// Kills the server immediately (SIGKILL) and waits for its end.
    public func kill() async throws { try await process.kill() }

    private static func events(_ name: String, in lines: [String]) -> [[Substring]] {
        lines.compactMap { line in
            let words = line.split(separator: " ")
            return words.first == name[...] ? Array(words.dropFirst()) : nil
        }
    }

    private static let started = Task { try await AioquicServer() }

    /// The server that the tests of a process share. It ends with the process.
    public static func shared() async throws -> AioquicServer { try await started.value }
}
