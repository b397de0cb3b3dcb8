import FoundationEssentials

/// A caddy of one's own on loopback, which speaks HTTP/1.1, HTTP/2 and HTTP/3 on one port, for `localhost`.
///
/// It ends with ``kill()``, with the last reference, or with the process.
///
/// | Path | |
/// |---|---|
/// | `/echo` | the version it is asked in |
/// | `/last` | the same, and the connection ends with it |
/// | `/large` | ``NginxServer/large`` |
/// | `/relay?port=` | passed on as it comes to that port of 127.0.0.1 |
/// | `/clear` | takes its alternatives back (`Alt-Svc: clear`) |
/// | `/misdirected` | status 421 |
public final class CaddyServer: Sendable {
    /// caddy did not come up.
    public struct StartFailure: Error, CustomStringConvertible {
        /// The output of caddy.
        public let description: String
    }

    /// Whether there is a caddy to start.
    public static let isInstalled = FileManager.default.isExecutableFile(atPath: program)
    private static let program = "/usr/bin/caddy"

    /// The port, of TCP and, with HTTP/3, of UDP.
    public let port: UInt16
    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// `https://localhost:port`, with no slash at the end.
    public var baseURL: String { "https://localhost:\(port)" }
    /// Its certificate, for localhost and 127.0.0.1, as PEM: its own authority.
    public var certificatePath: String { folder.file("certificate.pem") }

    /// Starts caddy and returns once it serves.
    ///
    /// - Parameters:
    ///   - speaksHTTP3: whether it does. If not, its responses name HTTP/3 all the same.
    ///   - other: one that has ended, the port and certificate of which this one gets.
    public init(speaksHTTP3: Bool = true, inPlaceOf other: CaddyServer? = nil) async throws {
        port = try other?.port ?? DeadPort(.refusing).port
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

    /// Ends it at once (SIGKILL) and waits until it is gone.
    public func kill() async throws { try await process.kill() }

    /// Reads its input to the end, which comes with the end of the test process, and then kills its process group.
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

    /// The one that the tests of a process share, with HTTP/3. It ends with the process.
    public static func shared() async throws -> CaddyServer { try await started.value }
}
