import FoundationEssentials
import TestServers
import Testing

extension Service {
    static var files: String {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Services").path
    }

    static func program(_ name: String) throws -> String { try #require(programs) + "/" + name }

    private static func gunicorn(_ application: String, _ environment: [String: String]) async throws
        -> Service
    {
        try await Service(
            [
                program("gunicorn"), "--bind", "127.0.0.1:0", "--threads", "16", "--access-logfile", "-",
                "--no-control-socket", "--chdir", files, application,
            ], environment: environment, ready: "Listening at")
    }

    /// The shop on Django REST framework, with its database in `folder`.
    static func shop(in folder: TemporaryFolder) async throws -> Service {
        try await gunicorn("shop:application", ["SHOP_DATABASE": folder.file("shop.db")])
    }

    /// The authorization server and the API on django-oauth-toolkit, with its database in `folder`.
    static func authorization(in folder: TemporaryFolder) async throws -> Service {
        try await gunicorn(
            "authorization:application", ["AUTHORIZATION_DATABASE": folder.file("authorization.db")])
    }

    /// The OpenID provider of oidc-provider-mock, which knows all clients and users.
    static func openIDProvider() async throws -> Service {
        let port = try ServerPort.free()
        return try await Service(
            [program("oidc-provider-mock"), "--port", "\(port)"], port: port, ready: "running on")
    }

    /// canaille, with one user, its clients, and their keys in `folder`.
    static func canaille(in folder: TemporaryFolder) async throws -> Canaille {
        let (port, redirect) = (try ServerPort.free(), try ServerPort.free())
        let service = try await Service(
            [
                // Loaded before it forks, so that the keys are in their files when it is ready.
                program("gunicorn"), "--bind", "127.0.0.1:\(port)", "--threads", "16", "--preload",
                "--no-control-socket", "--chdir", files, "identity:application",
            ],
            environment: [
                "IDENTITY_PORT": "\(port)", "IDENTITY_FOLDER": folder.path,
                "IDENTITY_REDIRECT": "http://127.0.0.1:\(redirect)/callback",
            ], port: port, ready: "Booting worker")
        return Canaille(service: service, redirectPort: redirect, folder: folder)
    }

    /// authgent, which demands a DPoP proof with its nonce in each request for tokens, and agrees to all logins.
    static func authgent(in folder: TemporaryFolder) async throws -> Service {
        let port = try ServerPort.free()
        return try await Service(
            [
                program("uvicorn"), "--host", "127.0.0.1", "--port", "\(port)", "--app-dir", files,
                "agents:application",
            ],
            environment: [
                "AUTHGENT_SERVER_URL": "http://127.0.0.1:\(port)", "AUTHGENT_REQUIRE_DPOP": "true",
                "AUTHGENT_DATABASE_URL": "sqlite+aiosqlite:///" + folder.file("authgent.db"),
                "AUTHGENT_SECRET_KEY": "the-key-of-a-server-on-loopback-that-guards-nothing",
            ], port: port, ready: "running on")
    }

    /// glewlwyd of Debian, with the redirect URL of its client.
    static func glewlwyd(
        in folder: TemporaryFolder, mode: Glewlwyd.Mode = .secret
    ) async throws -> Glewlwyd {
        let (port, redirect) = (try ServerPort.free(), try ServerPort.free())
        let service = try await Service(
            [
                program("python"), files + "/glewlwyd.py", folder.path, "\(port)",
                "http://127.0.0.1:\(redirect)/callback",
            ] + (mode == .secret ? [] : [mode.rawValue]), port: port, ready: "ready session=")
        let cookie = try await service.line { line in line.hasPrefix("ready ") ? line.dropFirst(6) : nil }
        return Glewlwyd(
            service: service, mode: mode, folder: folder, redirectPort: redirect, cookie: String(cookie))
    }

    static let accessKeyID = "AKIDEXAMPLE"
    static let secretKey = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

    /// The object store of SeaweedFS, with the bucket `shelf` and one key.
    static func objectStore(in folder: TemporaryFolder) async throws -> Service {
        let configuration = #"""
            {"identities":[{"name":"test","credentials":[{"accessKey":"\#(accessKeyID)","secretKey":"\#(secretKey)"}],
            "actions":["Admin","Read","Write","List"]}]}
            """#
        let port = try ServerPort.free()
        var command = [
            "weed", "mini", "-dir=" + folder.path, "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-bucket=shelf",
            "-s3.config=" + (try folder.file("s3.json", Array(configuration.utf8))), "-s3.port=\(port)",
            "-s3.port.iceberg=0", "-s3.port.lance=0", "-webdav=false", "-admin.ui=false",
        ]
        for name in [
            "s3.port.grpc", "master.port", "master.port.grpc", "volume.port", "volume.port.grpc",
            "filer.port",
            "filer.port.grpc", "admin.port", "admin.port.grpc",
        ] {
            command.append("-\(name)=\(try ServerPort.free())")
        }
        command[0] = try program("weed")
        return try await Service(
            command, environment: ["HOME": folder.path], port: port, ready: "S3 Endpoint")
    }

    /// httpbin.
    static func httpbin() async throws -> Service { try await gunicorn("httpbin:app", [:]) }

    /// Event streams, uploads and requests without end, on FastAPI.
    ///
    /// - Parameter port: the port to listen on, for a server that replaces another. Default: any free one.
    static func live(on port: UInt16 = 0) async throws -> Service {
        try await Service(
            [program("uvicorn"), "--app-dir", files, "--port", "\(port)", "live:app"], ready: "running on")
    }

    /// The propagators and the protocol of OpenTelemetry, on FastAPI.
    static func collector() async throws -> Service {
        try await Service(
            [program("uvicorn"), "--app-dir", files, "--port", "0", "collector:app"], ready: "running on")
    }

    /// WebSockets by one of the packages.
    ///
    /// - Parameter port: the port, to replace an earlier server. Default: any free port.
    static func sockets(_ package: SocketPackage, on port: UInt16 = 0) async throws -> Service {
        try await Service(
            [program("python"), files + "/sockets.py", package.rawValue, "\(port)"], ready: "ready")
    }

    /// datasette, with 20,000 rows in the table `rows` of the database `rows`.
    static func datasette(in folder: TemporaryFolder) async throws -> Service {
        let database = folder.file("rows.db")
        let made = try ChildProcess(program("python"), [files + "/rows.py", database])
        #expect(try await made.ended().ending == .exited(0))
        return try await Service(
            [
                program("datasette"), "serve", "--host", "127.0.0.1", "--port", "0", "--immutable", database,
                "--setting", "max_returned_rows", "1000",
            ], environment: ["HOME": folder.path], ready: "running on")
    }

    /// caddy, in front of another service and with the files of `folder` below `/files`. Its log has an
    /// ``AccessEntry`` for
    /// each request.
    ///
    /// - Parameter port: the port to listen on. Default: a free one.
    static func caddy(
        before upstream: Service? = nil, filesOf folder: TemporaryFolder, on port: UInt16? = nil
    ) async throws -> Service {
        let port = try port ?? ServerPort.free()
        let command = ["caddy", "run", "--adapter", "caddyfile", "--config", files + "/Caddyfile"]
        return try await Service(
            ["/usr/bin/env"] + command,
            environment: [
                "PORT": "\(port)", "UPSTREAM": "\(upstream?.port ?? port)", "FILES": folder.path,
                "HOME": folder.path,
            ], port: port, ready: "serving initial configuration")
    }
}
