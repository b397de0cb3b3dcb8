import FoundationEssentials

/// A private caddy server on loopback, with HTTP/1.1, HTTP/2 and HTTP/3 on one port, for `localhost`.
///
/// It ends with ``kill()``, with the last reference, or with the process.
///
/// | Path | |
/// |---|---|
/// | `/echo` | the HTTP version of the request |
/// | `/last` | the same; then the connection is closed |
/// | `/large` | ``NginxServer/large`` |
/// | `/relay?port=` | forwarded unchanged to the port `port` of 127.0.0.1 |
/// | `/clear` | withdraws its alternatives (`Alt-Svc: clear`) |
/// | `/misdirected` | status 421 |
public final class CaddyServer: Sendable {
    /// caddy did not start.
    public struct StartFailure: Error, CustomStringConvertible {
        /// The output of caddy.
        public let description: String
    }

    /// Whether caddy is installed.
    public static let isInstalled = FileManager.default.isExecutableFile(atPath: program)
    private static let program = "/usr/bin/caddy"

    /// The port, for TCP and, with HTTP/3, for UDP.
    public let port: UInt16
    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// `https://localhost:port`, without a trailing slash.
    public var baseURL: String { "https://localhost:\(port)" }
    /// The path of its self-signed certificate for localhost and 127.0.0.1, as PEM.
    public var certificatePath: String { folder.file("certificate.pem") }

    /// Starts caddy and returns once it serves requests.
    ///
    /// - Parameters:
    ///   - speaksHTTP3: whether the server speaks HTTP/3. If not, its responses still advertise HTTP/3.
    ///   - other: a server that has ended, whose port and certificate the new one uses.
    public init(speaksHTTP3: Bool = true, inPlaceOf other: CaddyServer? = nil) async throws {
        port = try other?.port ?? ServerPort.free()
        folder = try other?.folder ?? TemporaryFolder()
        _ = try folder.file("Caddyfile", Array(Self.configuration(folder.path, port, speaksHTTP3).utf8))
        if other == nil { _ = try folder.file("large", NginxServer.large) }
        process = try ChildProcess(
            "/bin/sh", ["-c", Self.script],
            environment: [
                "FOLDER": folder.path, "HOME": folder.path, "PATH": "/usr/bin:/bin", "CADDY": Self.program,
            ])
        var lines: [String] = []
        while let line = try await process.nextLine() {
            if line.contains("serving initial configuration") { return }
            lines.append(line)
        }
        throw StartFailure(description: lines.joined(separator: "\n"))
    }

    /// Kills the server immediately (SIGKILL) and waits for its end.
    public func kill() async throws { try await process.kill() }

    /// Reads its input until the end of the test process closes it, then kills its process group.
    private static let script = """
        cd "$FOLDER" || exit 1
        [ -e certificate.pem ] || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
            -keyout key.pem -out certificate.pem -subj /CN=localhost \
            -addext subjectAltName=DNS:localhost,IP:127.0.0.1 2>&1
        { "$CADDY" run --adapter caddyfile --config Caddyfile </dev/null 2>&1; kill -KILL 0; } &
        cat >/dev/null; kill -KILL 0
        """

    private static func configuration(_ folder: String, _ port: UInt16, _ speaksHTTP3: Bool) -> String {
        """
        {
            admin off
            auto_https off
            servers {
                protocols h1 h2 \(speaksHTTP3 ? "h3" : "")
            }
        }
        https://localhost:\(port), https://127.0.0.1:\(port) {
            tls certificate.pem key.pem
            \(speaksHTTP3 ? "" : #"header Alt-Svc `h3=":\#(port)"; ma=3600`"#)
            handle /echo {
                respond "{http.request.proto}"
            }
            handle /last {
                header Connection close
                respond "{http.request.proto}"
            }
            handle /large {
                root * \(folder)
                file_server
            }
            handle_path /relay {
                reverse_proxy 127.0.0.1:{query.port}
            }
            handle /clear {
                header Alt-Svc clear
                respond "cleared"
            }
            handle /misdirected {
                respond 421
            }
        }
        """
    }
}

extension CaddyServer {
    private static let started = Task { try await CaddyServer() }

    /// The server that the tests of a process share, with HTTP/3. It ends with the process.
    public static func shared() async throws -> CaddyServer { try await started.value }
}
