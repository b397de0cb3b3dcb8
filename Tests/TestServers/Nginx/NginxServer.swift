import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A private nginx server on loopback: http on one free port, https with HTTP/2 on another, HTTP/2 without
/// TLS on a third, and http on a Unix socket.
///
/// It runs in a temporary folder, as the user of the tests, and ends with ``stop()``, with the last reference
/// or with the process. `NginxServer+Configuration.swift` defines its locations.
public final class NginxServer: Sendable {
    /// nginx did not start.
    public struct StartFailure: Error, CustomStringConvertible {
        /// The output of nginx and openssl.
        public let description: String
    }

    /// The port for http on 127.0.0.1.
    public let port: UInt16
    /// The port for https, up to TLS 1.2, on 127.0.0.1.
    public let tlsPort: UInt16
    /// The port for HTTP/2 without TLS on 127.0.0.1, without HTTP/1.1.
    public let http2Port: UInt16
    /// The port for https, up to TLS 1.3, with the certificates of ``certificateHosts`` on 127.0.0.1.
    public let certificatePort: UInt16
    /// The port for https with TLS 1.3 only on 127.0.0.1, with the same locations as ``tlsPort``.
    public let tls13Port: UInt16
    /// The port for https without HTTP/2 on 127.0.0.1, with the same locations as ``tlsPort``.
    public let http1TLSPort: UInt16
    /// The folder with the configuration, the logs, the certificate and the served files.
    public let folder: String
    private let process: SupervisedProcess

    /// Starts nginx and returns once it answers.
    public init() throws {
        // The sockets listen before nginx starts and are passed to it, as nginx does during an upgrade
        // (https://nginx.org/en/docs/control.html#upgrade). So no other process can take the ports, and the
        // first connection waits in the backlog instead of being refused.
        let plain = try Listener()
        let tls = try Listener()
        let http2 = try Listener()
        let certificates = try Listener()
        let tls13 = try Listener()
        let http1TLS = try Listener()
        let ports = Ports(
            plain: plain.port, tls: tls.port, http2: http2.port, certificates: certificates.port,
            tls13: tls13.port, http1TLS: http1TLS.port)
        (port, tlsPort, http2Port) = (ports.plain, ports.tls, ports.http2)
        (certificatePort, tls13Port, http1TLSPort) = (ports.certificates, ports.tls13, ports.http1TLS)
        folder = try TemporaryFolder.make("nginx")
        do {
            try Self.writeFiles(in: folder, ports)
            process = try SupervisedProcess(
                script: Self.script,
                environment: [
                    "FOLDER": folder, "NGINX": "3;4;5;6;7;8;",
                    "PATH": "/usr/sbin:/usr/local/sbin:" + Self.path,
                ],
                descriptors: [
                    plain.descriptor.raw, tls.descriptor.raw, http2.descriptor.raw,
                    certificates.descriptor.raw, tls13.descriptor.raw, http1TLS.descriptor.raw,
                ])
        } catch {
            try? FileManager.default.removeItem(atPath: folder)  // the first error is reported
            throw error
        }
        // Closes this process's copies, so that a connection is refused or reset if nginx is not there to
        // accept it.
        _ = consume plain
        _ = consume tls
        _ = consume http2
        _ = consume certificates
        _ = consume tls13
        _ = consume http1TLS
        try awaitFirstAnswer()
    }

    deinit { stop() }

    /// `http://127.0.0.1:port`, without a trailing slash.
    public var baseURL: String { "http://127.0.0.1:\(port)" }
    /// `https://127.0.0.1:tlsPort`, without a trailing slash.
    public var tlsBaseURL: String { "https://127.0.0.1:\(tlsPort)" }
    /// `https://127.0.0.1:tls13Port`, without a trailing slash.
    public var tls13BaseURL: String { "https://127.0.0.1:\(tls13Port)" }
    /// `https://127.0.0.1:http1TLSPort`, without a trailing slash.
    public var http1TLSBaseURL: String { "https://127.0.0.1:\(http1TLSPort)" }
    /// The path of the Unix socket for http.
    public var unixSocketPath: String { "\(folder)/\(Self.socketName)" }
    /// Makes the path longer than the addresses that libcurl reports, which have 45 bytes at most, and not longer than
    /// the 103 that some systems allow.
    static let socketName = "socket-with-a-path-beyond-45-bytes"
    /// The path of the server's self-signed certificate for 127.0.0.1 and localhost, as PEM.
    public var certificatePath: String { folder + "/certificate.pem" }

    /// Stops nginx, waits for its end and removes the folder.
    public func stop() { process.stop() }

    private static var path: String {
        ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    }

    /// The script removes the folder at the end, because only it knows when nginx no longer writes to it.
    private static let script = """
        cd "$FOLDER" || exit 1
        \(certificateScript)
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
            -keyout key.pem -out certificate.pem -subj /CN=localhost \
            -addext subjectAltName=DNS:localhost,IP:127.0.0.1 >start.log 2>&1 &&
            { nginx -p "$FOLDER" -c "$FOLDER/nginx.conf" -e "$FOLDER/error.log" >>start.log 2>&1 & }
        exec 3<&- 4<&- 5<&- 6<&- 7<&-
        read -r _
        [ -z "$!" ] || { kill "$!"; wait "$!"; }
        cd / && rm -rf "$FOLDER"
        """

    /// Sends one request and waits for the response: the wait ends when nginx answers or is not there.
    private func awaitFirstAnswer() throws {
        do {
            let connection = try Descriptor.connected(to: port)
            let request = Array("GET /ready HTTP/1.0\r\n\r\n".utf8)
            let raw = connection.raw
            guard unsafe write(raw, request, request.count) == request.count else {
                throw SystemError("write")
            }
            var answer = [UInt8](repeating: 0, count: 64)
            let count = unsafe read(raw, &answer, answer.count)
            guard count > 0 else { throw SystemError("read") }
            guard answer.starts(with: "HTTP/1.1 200".utf8) else {
                throw StartFailure(description: String(decoding: answer.prefix(count), as: UTF8.self))
            }
        } catch {
            let logs = ["start.log", "error.log"].compactMap { name in
                FileManager.default.contents(atPath: "\(folder)/\(name)")
                    .map { String(decoding: $0, as: UTF8.self) }
            }
            stop()
            throw StartFailure(description: "\(error)\n" + logs.joined())
        }
    }
}
