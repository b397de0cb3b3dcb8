import FoundationEssentials
import RxNetworking
import TestServers
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Servers that others wrote, installed by `Tests/transfers.sh`.
enum TransferServers {
    /// Whether the script runs the tests.
    static let areThere = environment("TRANSFERS") != nil && Service.programs != nil
    /// Said for tests that do not run.
    static let note: Comment = "run by Tests/transfers.sh, which installs the servers"

    static func environment(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

    private static let files = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Services").path

    private static func program(_ name: String) throws -> String {
        try #require(Service.programs) + "/" + name
    }

    /// A server of uploads by tus.
    enum Tus: String, CaseIterable, Sendable {
        case tuspyserver, resumableUpload, seaweedfs

        /// The path of its uploads.
        var path: String { self == .seaweedfs ? "/.tus/files" : "/files" }
    }

    /// Starts a server of uploads by tus.
    ///
    /// - Parameters:
    ///   - folder: where it keeps the uploads.
    ///   - port: the port, for a server that replaces another. Default: a free one.
    static func start(_ server: Tus, in folder: TemporaryFolder, on port: UInt16? = nil) async throws
        -> Service
    {
        let port = try port ?? ServerPort.free()
        switch server {
        case .tuspyserver:
            return try await Service(
                [program("uvicorn"), "--app-dir", files, "--port", "\(port)", "tus:app"],
                environment: ["FOLDER": folder.path], port: port, ready: "running on")
        case .resumableUpload:
            return try await Service(
                [
                    program("resumable-upload"), "serve", "--host", "127.0.0.1", "--port", "\(port)",
                    "--upload-dir", folder.file("uploads"), "--db-path", folder.file("uploads.db"),
                    "--checksum-algorithms", "sha1,sha256", "--enable-downloads",
                ], port: port, ready: "listening on")
        case .seaweedfs: return try await Seaweed(in: folder, filerPort: port, isTus: true).service
        }
    }

    /// moto, S3 in memory.
    static func moto() async throws -> Service {
        try await Service([program("moto_server"), "-H", "127.0.0.1", "-p", "0"], ready: "Running on")
    }

    /// caddy, with the files of a folder below `/files`.
    static func caddy(filesOf folder: TemporaryFolder) async throws -> Service {
        let port = try ServerPort.free()
        let command = ["caddy", "run", "--adapter", "caddyfile", "--config", files + "/Caddyfile"]
        return try await Service(
            ["/usr/bin/env"] + command,
            environment: [
                "PORT": "\(port)", "UPSTREAM": "\(port)", "FILES": folder.path, "HOME": folder.path,
            ], port: port, ready: "serving initial configuration")
    }

    /// nginx, with the files of a folder at its root.
    ///
    /// - Parameters:
    ///   - rate: the most bytes per second of each connection. Default: no limit.
    ///   - port: the port, for a server that replaces another. Default: a free one.
    static func nginx(
        filesOf folder: TemporaryFolder, rate: Int? = nil, on port: UInt16? = nil
    ) async throws -> Service {
        let port = try port ?? ServerPort.free()
        let own = try TemporaryFolder()
        let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(own.file($0));"
        }
        let text = """
            daemon off;
            \(geteuid() == 0 ? "user root;" : "")
            worker_processes 1;
            pid \(own.file("pid"));
            error_log stderr notice;
            events {}
            http {
                access_log off;
                \(paths.joined(separator: "\n"))
                server {
                    listen 127.0.0.1:\(port);
                    root \(folder.path);
                    \(rate.map { "limit_rate \($0);" } ?? "")
                }
            }
            """
        let path = try own.file("nginx.conf", Array(text.utf8))
        return try await Service(
            ["/usr/bin/env", "nginx", "-p", own.path, "-e", "stderr", "-c", path], port: port,
            ready: "start worker process")
    }

    /// Content without two equal blocks of eight bytes.
    static func content(_ size: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: (size + 7) / 8 * 8) { buffer, count in
            unsafe buffer.withMemoryRebound(to: UInt64.self) { blocks in
                for index in blocks.indices {
                    unsafe blocks[index] = (UInt64(index) &* 0x9E37_79B9_7F4A_7C15).littleEndian
                }
            }
            count = size
        }
    }
}

/// seaweedfs: a master, a volume, a filer with tus, and S3, in one process.
final class Seaweed: Sendable {
    static let key = "AKIDEXAMPLE"
    static let secret = "wJalrXUtnFEMI"

    let service: Service
    /// The port of S3.
    let port: UInt16

    /// `http://127.0.0.1:port` of S3.
    var baseURL: String { "http://127.0.0.1:\(port)" }

    /// - Parameter isTus: whether the port of the service is the filer's, which takes uploads by tus, instead of S3's.
    init(
        in folder: TemporaryFolder, filerPort: UInt16? = nil, port: UInt16? = nil, isTus: Bool = false
    ) async throws {
        let programs = try #require(Service.programs)
        let identity = """
            {"identities":[{"name":"tests","credentials":[{"accessKey":"\(Self.key)","secretKey":"\(Self.secret)"}],
            "actions":["Admin","Read","Write","List","Tagging"]}]}
            """
        let settings = try folder.file("s3.json", Array(identity.utf8))
        if try !folder.names.contains("data") {
            try FileManager.default.createDirectory(
                atPath: folder.file("data"), withIntermediateDirectories: false)
        }
        let ports = try (0..<9).map { _ in try ServerPort.free() }
        self.port = port ?? ports[8]
        service = try await Service(
            [
                programs + "/weed", "server", "-dir=\(folder.file("data"))", "-ip=127.0.0.1",
                "-ip.bind=127.0.0.1", "-master.port=\(ports[0])", "-master.port.grpc=\(ports[1])",
                "-volume.port=\(ports[2])", "-volume.port.grpc=\(ports[3])", "-volume.max=50",
                "-master.volumeSizeLimitMB=128", "-filer", "-filer.port=\(filerPort ?? ports[4])",
                "-filer.port.grpc=\(ports[5])", "-s3", "-s3.port=\(self.port)",
                "-s3.port.grpc=\(ports[6])", "-s3.config=\(settings)", "-s3.port.iceberg=0",
                "-s3.port.lance=0",
            ], environment: ["HOME": folder.path, "TMPDIR": folder.path],
            port: isTus ? filerPort ?? ports[4] : self.port,
            ready: "Start Seaweed S3 API Server")
    }
}
