import FoundationEssentials

/// A TLS server of OpenSSL (`openssl s_server`) on loopback, for what other servers do not do.
///
/// It ends with the last reference, or with the process.
public final class OpenSSLServer: Sendable {
    /// The server did not start.
    public struct StartFailure: Error, CustomStringConvertible {
        /// Its output.
        public let description: String
    }

    /// The port on 127.0.0.1.
    public let port: UInt16
    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// The path of its self-signed certificate for 127.0.0.1, as PEM. It is also the only authority of clients.
    public var certificatePath: String { folder.file("certificate.pem") }

    /// Starts the server with these arguments of `openssl s_server`, and returns once it accepts connections.
    ///
    /// - Parameter files: the files that it serves with `-WWW`, by name.
    public init(_ arguments: String, files: [String: [UInt8]] = [:]) async throws {
        folder = try TemporaryFolder()
        for (name, content) in files { _ = try folder.file(name, content) }
        process = try ChildProcess(
            "/bin/sh", ["-c", Self.script],
            environment: [
                "FOLDER": folder.path, "HOME": folder.path, "PATH": "/usr/bin:/bin", "ARGUMENTS": arguments,
            ])
        var lines: [String] = []
        while let line = try await process.nextLine() {
            lines.append(line)
            guard line.hasPrefix("ACCEPT 127.0.0.1:"), let port = UInt16(line.dropFirst(17)) else { continue }
            self.port = port
            return
        }
        throw StartFailure(description: lines.joined(separator: "\n"))
    }

    /// Reads its input until the end of the test process closes it, then kills its process group.
    private static let script = """
        cd "$FOLDER" || exit 1
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
            -keyout key.pem -out certificate.pem -subj /CN=127.0.0.1 \
            -addext subjectAltName=IP:127.0.0.1 2>&1
        { openssl s_server -accept 127.0.0.1:0 -cert certificate.pem -key key.pem -CAfile certificate.pem \
            $ARGUMENTS </dev/null 2>&1; kill -KILL 0; } &
        cat >/dev/null; kill -KILL 0
        """
}
