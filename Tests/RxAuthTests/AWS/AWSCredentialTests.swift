#if Auth
import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxAuth

/// The sources of AWS keys, against scripted servers and files in memory.
@Suite struct AWSCredentialTests {
    private let clock = VirtualScheduler(startingAt: Date(timeIntervalSince1970: 1_700_000_000))

    private func context(_ transport: ScriptedTransport) -> SigningContext {
        SigningContext(date: clock.date, scheduler: clock, transport: transport)
    }

    @discardableResult
    private func fetch(
        _ credentials: AWSCredentials, _ transport: ScriptedTransport
    ) throws -> Recorder<AWSCredential, NetworkError> {
        let recorder = Recorder(credentials.credential(in: context(transport)), on: clock)
        try clock.run()
        return recorder
    }

    private func file(_ files: MemoryFileSystem, _ path: String, _ text: String) throws {
        _ = Recorder(files.replace(path, with: Array(text.utf8)), on: clock)
        try clock.run()
    }

    /// The document of a metadata service.
    private static func document(_ id: String, expires: String = "2023-11-14T23:13:20Z")
        -> ScriptedTransport.Reply
    {
        .json(
            """
            {"Code":"Success","AccessKeyId":"\(id)","SecretAccessKey":"s","Token":"t","Expiration":"\(expires)"}
            """, after: .milliseconds(10))
    }

    // MARK: - Renewal

    /// Keys are fetched once for all that wait, and renewed five minutes before they expire.
    @Test func renewal() throws {
        let count = Counter()
        let clock = clock
        let source = AWSCredentials(named: "test") { _ in
            let number = count.next()
            return Observable<AWSCredential, NetworkError>.deferred {
                .just(
                    AWSCredential(
                        accessKeyID: "K\(number)", secretAccessKey: "s", sessionToken: "t",
                        expires: clock.date.addingTimeInterval(3600)))
            }
            .delay(.seconds(1), on: clock)
        }
        let transport = ScriptedTransport(on: clock, [])
        let recorders = (0..<5).map { _ in Recorder(source.credential(in: context(transport)), on: clock) }
        #expect(source.current(at: clock.date) == nil)
        try clock.run()
        #expect(recorders.allSatisfy { $0.values.map(\.accessKeyID) == ["K1"] && $0.isFinished })
        try clock.advance(by: .seconds(3298))
        #expect(try fetch(source, transport).values.map(\.accessKeyID) == ["K1"])
        try clock.advance(by: .seconds(2))
        #expect(source.current(at: clock.date) == nil)
        #expect(try fetch(source, transport).values.map(\.accessKeyID) == ["K2"])
        #expect(count.value == 2)
    }

    /// Keys that are still valid stay in use when their renewal fails, and are renewed later.
    @Test func failedRenewal() throws {
        let count = Counter()
        let clock = clock
        let source = AWSCredentials(named: "test") { _ in
            let number = count.next()
            guard number != 2 else { return .fail(.noCredentials("down")) }
            return .just(
                AWSCredential(
                    accessKeyID: "K\(number)", secretAccessKey: "s",
                    expires: clock.date.addingTimeInterval(600)))
        }
        let transport = ScriptedTransport(on: clock, [])
        try fetch(source, transport)
        try clock.advance(by: .seconds(400))
        #expect(try fetch(source, transport).values.map(\.accessKeyID) == ["K1"])
        #expect(try fetch(source, transport).values.map(\.accessKeyID) == ["K3"])
    }

    /// A fetch that nobody waits for any more is cancelled, and the next one begins anew.
    @Test func cancelled() throws {
        let count = Counter()
        let source = AWSCredentials(named: "test") { context in
            count.next() == 1
                ? .never() : .just(AWSCredential(accessKeyID: "K", secretAccessKey: "s"))
        }
        let transport = ScriptedTransport(on: clock, [])
        let recorder = Recorder(source.credential(in: context(transport)), on: clock)
        try clock.advance(by: .seconds(1))
        recorder.cancel()
        #expect(try fetch(source, transport).values.count == 1)
    }

    /// Keys that have expired or are malformed are refused.
    @Test func unusable() throws {
        let transport = ScriptedTransport(on: clock, [])
        for credential in [
            AWSCredential(accessKeyID: "", secretAccessKey: "s"),
            AWSCredential(accessKeyID: "K", secretAccessKey: ""),
            AWSCredential(accessKeyID: "K\r\nX: y", secretAccessKey: "s"),
            AWSCredential(accessKeyID: "K", secretAccessKey: "s", sessionToken: "a\nb"),
            AWSCredential(accessKeyID: "K", secretAccessKey: "s", expires: clock.date),
        ] {
            let source = AWSCredentials(named: "test") { _ in .just(credential) }
            #expect(try fetch(source, transport).failure?.code == .noCredentials)
        }
    }

    // MARK: - Environment

    /// The environment has both keys or none.
    @Test func environment() throws {
        let transport = ScriptedTransport(on: clock, [])
        let keys = ["AWS_ACCESS_KEY_ID": "K", "AWS_SECRET_ACCESS_KEY": "s"]
        let source = AWSCredentials.environment(keys.merging(["AWS_SESSION_TOKEN": "t"]) { $1 })
        #expect(source.current(at: clock.date)?.sessionToken == "t")
        #expect(
            AWSCredentials.environment(keys.merging(["AWS_SESSION_TOKEN": ""]) { $1 }).current(
                at: clock.date)?.sessionToken == nil)
        for name in keys.keys {
            var part = keys
            part[name] = nil
            let failure = try fetch(.environment(part), transport).failure
            #expect(failure?.code == .noCredentials && failure?.message.contains(name) == true)
        }
        #expect(AWSCredentials.standard(keys).current(at: clock.date)?.accessKeyID == "K")
    }

    /// The standard chain takes the first source that has keys, and stays with it.
    @Test func standardChain() throws {
        let transport = ScriptedTransport(on: clock) { request in
            switch request.url.path() {
            case "/latest/api/token", "/latest/meta-data/iam/security-credentials/":
                return .bytes(Array("role".utf8))
            default: return Self.document("K")
            }
        }
        let source = AWSCredentials.standard(["HOME": "/none"])
        #expect(try fetch(source, transport).values.map(\.accessKeyID) == ["K"])
        #expect(transport.requests.count == 3)
        let nothing = ["HOME": "/none", "AWS_EC2_METADATA_DISABLED": "true"]
        let failure = try fetch(.standard(nothing), transport).failure
        #expect(failure?.code == .noCredentials && failure?.message.contains("the environment") == true)
        let broken = ["HOME": "/none", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "https://keys.example.com/v1"]
        #expect(try fetch(.standard(broken), transport).values.map(\.accessKeyID) == ["K"])
        #expect(transport.requests.last?.url.host() == "keys.example.com")
    }

    // MARK: - Metadata services

    /// An instance's keys need a token, and then the name of the role.
    @Test func instance() throws {
        let transport = ScriptedTransport(on: clock) { request in
            let isAuthorized = request.headerFields[HTTPField.Name("X-aws-ec2-metadata-token")!] == "token=="
            switch (request.method, request.url.path()) {
            case (.put, "/latest/api/token"): return .bytes(Array("token==\n".utf8))
            case (.get, "/latest/meta-data/iam/security-credentials/"):
                return isAuthorized ? .bytes(Array("my role\n".utf8)) : .status(.unauthorized)
            case (.get, "/latest/meta-data/iam/security-credentials/my%20role"):
                return isAuthorized ? Self.document("K") : .status(.unauthorized)
            default: return .status(.notFound)
            }
        }
        let credential = try #require(try fetch(.instance([:]), transport).values.first)
        #expect(credential.accessKeyID == "K" && credential.sessionToken == "t")
        #expect(credential.expires == Date(timeIntervalSince1970: 1_700_003_600))
        #expect(transport.requests.allSatisfy { $0.url.host() == "169.254.169.254" })
        let other = ["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://localhost:1338/"]
        #expect(try fetch(.instance(other), transport).values.count == 1)
        #expect(transport.requests.last?.url.port == 1338)
        let disabled = ["AWS_EC2_METADATA_DISABLED": "true"]
        #expect(try fetch(.instance(disabled), transport).failure?.code == .noCredentials)
        #expect(transport.requests.count == 6)
    }

    /// A metadata service that is absent or answers something else has no keys.
    @Test func brokenMetadata() throws {
        let replies: [ScriptedTransport.Reply] = [
            .failure(.connect), .stall, .status(.forbidden), .bytes([]), .bytes(Array("a\u{7F}\0b".utf8)),
            .json("<html>"), .json("{}"), .json(#"{"Code":"AssumeRoleUnauthorizedAccess"}"#),
            .json(#"{"AccessKeyId":7}"#),
            .json(#"{"AccessKeyId":"K","SecretAccessKey":"s","Expiration":"tomorrow"}"#),
            .bytes([UInt8](repeating: 0x61, count: 100_000)),
        ]
        for reply in replies {
            let variables = ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/x"]
            for source in [AWSCredentials.container(variables), .instance([:])] {
                let transport = ScriptedTransport(on: clock) { _ in reply }
                let start = clock.now
                let failure = try fetch(source, transport).failure
                #expect(failure?.code == .noCredentials)
                #expect(clock.now - start <= .seconds(10), "it is not waited for long")
            }
        }
    }

    /// A container's keys come from the address in the environment, if it is a safe one.
    @Test func container() throws {
        let files = MemoryFileSystem(on: clock)
        try file(files, "/token", " from-file\n")
        let full = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
        let cases: [([String: String], url: String?, authorization: String?)] = [
            (["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/x"], "http://169.254.170.2/v2/x", nil),
            (
                [full: "http://169.254.170.23/v1", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "/token"],
                "http://169.254.170.23/v1", "from-file"
            ),
            (
                [full: "https://keys.example.com/v1", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "Basic x"],
                "https://keys.example.com/v1", "Basic x"
            ),
            ([full: "http://[::1]:99/v1"], "http://[::1]:99/v1", nil),
            ([full: "http://keys.example.com/v1"], nil, nil), ([full: "file:///etc/passwd"], nil, nil),
            ([:], nil, nil),
            (["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "@evil.test"], nil, nil),
            ([full: "https://a.test", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "a\r\nb: c"], nil, nil),
            ([full: "https://a.test", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "/absent"], nil, nil),
        ]
        for (variables, url, authorization) in cases {
            let transport = ScriptedTransport(on: clock, files: files) { _ in Self.document("K") }
            let recorder = try fetch(.container(variables), transport)
            #expect(transport.requests.map(\.url.absoluteString) == [url].compactMap { $0 })
            #expect(transport.requests.first?.headerFields[.authorization] == authorization)
            #expect(recorder.failure?.code == (url == nil ? .noCredentials : nil))
        }
    }

    // MARK: - Profiles

    private static let config = """
        # comment
        [default]
        region = eu-west-1 # inline
        [profile reader]
        role_arn = arn:aws:iam::1:role/reader
        source_profile = base
        external_id = ext
        region = us-west-2
        s3 =
            max_concurrent_requests = 20
        [profile loop1]
        role_arn = r
        source_profile = loop2
        [profile loop2]
        role_arn = r
        source_profile = loop1
        [profile self]
        role_arn = r
        source_profile = self
        aws_access_key_id = SELF
        aws_secret_access_key = s
        [profile sso]
        sso_session = x
        [profile instance]
        role_arn = r
        credential_source = Ec2InstanceMetadata
        [profile web]
        role_arn = r
        web_identity_token_file = /token
        [ignored]
        aws_access_key_id = X
        """
    private static let keys = """
        [default]
        aws_access_key_id = DEFAULT
        aws_secret_access_key=s/=#x
        aws_session_token = t==
        [base]\r
        aws_access_key_id = BASE\r
        aws_secret_access_key = b\r
        """

    private static let role = """
        <AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
        <AccessKeyId>ROLE</AccessKeyId><SecretAccessKey>s&amp;x</SecretAccessKey><SessionToken>t</SessionToken>
        <Expiration>2023-11-14T23:13:20Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>
        """

    /// Profiles have keys, or a role to assume with the keys of another profile.
    @Test func profiles() throws {
        let files = MemoryFileSystem(on: clock)
        try file(files, "/h/.aws/config", Self.config)
        try file(files, "/h/.aws/credentials", Self.keys)
        try file(files, "/token", "jwt\n")
        let cases: [(String?, [String: String], id: String?, form: [String])] = [
            (nil, [:], "DEFAULT", []), ("base", [:], "BASE", []), (nil, ["AWS_PROFILE": "base"], "BASE", []),
            (
                "reader", [:], "ROLE",
                [
                    "Action=AssumeRole&", "RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Freader", "ExternalId=ext",
                    "DurationSeconds=3600",
                ]
            ),
            ("self", [:], "ROLE", ["Action=AssumeRole&"]),
            ("web", [:], "ROLE", ["Action=AssumeRoleWithWebIdentity&", "WebIdentityToken=jwt"]),
            ("loop1", [:], nil, []), ("sso", [:], nil, []), ("absent", [:], nil, []),
            ("ignored", [:], nil, []),
            (nil, ["AWS_SHARED_CREDENTIALS_FILE": "/absent", "AWS_CONFIG_FILE": "/absent"], nil, []),
        ]
        for (name, variables, id, form) in cases {
            let transport = ScriptedTransport(on: clock, files: files) { _ in .bytes(Array(Self.role.utf8)) }
            let source = AWSCredentials.profile(name, variables.merging(["HOME": "/h"]) { own, _ in own })
            let recorder = try fetch(source, transport)
            #expect(recorder.values.first?.accessKeyID == id, "\(name ?? "-")")
            #expect(recorder.failure?.code == (id == nil ? .noCredentials : nil))
            guard case .bytes(let bytes)? = transport.requests.first?.body else {
                #expect(form.isEmpty)
                continue
            }
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(form.allSatisfy { text.contains($0) }, "\(text)")
        }
        let transport = ScriptedTransport(on: clock, files: files) { _ in .status(.notFound) }
        let first = try fetch(.profile(nil, ["HOME": "/h"]), transport).values.first
        #expect(first?.secretAccessKey == "s/=#x" && first?.sessionToken == "t==")
    }

    /// The region of the Security Token Service is that of the environment, or else that of the profile.
    @Test func regions() throws {
        let files = MemoryFileSystem(on: clock)
        try file(files, "/h/.aws/config", Self.config)
        try file(files, "/h/.aws/credentials", Self.keys)
        try file(files, "/token", "jwt\n")
        let home = ["HOME": "/h", "AWS_WEB_IDENTITY_TOKEN_FILE": "/token", "AWS_ROLE_ARN": "arn"]
        let cases: [([String: String], ofProfile: String, otherwise: String)] = [
            ([:], "us-west-2", "us-east-1"), (["AWS_DEFAULT_REGION": "eu-west-3"], "eu-west-3", "eu-west-3"),
            (["AWS_REGION": "eu-west-2"], "eu-west-2", "eu-west-2"),
            (["AWS_REGION": "eu-west-2", "AWS_DEFAULT_REGION": "eu-west-3"], "eu-west-2", "eu-west-2"),
            (["AWS_REGION": "", "AWS_DEFAULT_REGION": ""], "us-west-2", "us-east-1"),
        ]
        for (variables, ofProfile, otherwise) in cases {
            let transport = ScriptedTransport(on: clock, files: files) { _ in .bytes(Array(Self.role.utf8)) }
            let environment = variables.merging(home) { own, _ in own }
            for source in [
                AWSCredentials.profile("reader", environment), .profile("self", environment),
                .profile("web", environment), .webIdentity(environment),
            ] {
                try fetch(source, transport)
            }
            let regions = [ofProfile, otherwise, otherwise, otherwise]
            #expect(
                transport.requests.compactMap { $0.url.host() }
                    == regions.map { "sts.\($0).amazonaws.com" },
                "\(variables)")
        }
    }

    // MARK: - The Security Token Service

    /// A role is assumed by a signed request, which is repeated if the clocks differ.
    @Test func assumedRole() throws {
        let script = ScriptedTransport.Script([
            .bytes(
                Array("<Error><Code>SignatureDoesNotMatch</Code></Error>".utf8), status: .forbidden,
                headers: [.date: "Tue, 14 Nov 2023 23:13:20 GMT"]), .bytes(Array(Self.role.utf8)),
        ])
        let transport = ScriptedTransport(on: clock) { _ in script.next() }
        let source = AWSCredentials.assumingRole(
            "arn:aws:iam::1:role/r", sessionName: "me", region: "eu-west-1",
            with: .keys(id: "BASE", secret: "b"))
        let credential = try #require(try fetch(source, transport).values.first)
        #expect(credential.secretAccessKey == "s&x")
        #expect(
            transport.requests.map(\.url.absoluteString)
                == [String](repeating: "https://sts.eu-west-1.amazonaws.com/", count: 2))
        let signatures = transport.requests.map { $0.headerFields[.authorization] }
        #expect(signatures[0] != signatures[1])
        #expect(signatures[1]?.contains("Credential=BASE/20231114/eu-west-1/sts/aws4_request") == true)
        #expect(transport.requests[1].headerFields[.amzDate] == "20231114T231320Z")
    }

    /// Refusals of the Security Token Service name their code, and no secret.
    @Test func refusedRole() throws {
        let bodies: [(String, HTTPResponse.Status)] = [
            ("<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>", .forbidden),
            ("<html>", .ok),
            ("", .ok), ("<AccessKeyId>a</AccessKeyId>", .ok), (Self.role.replacing("2023-", with: "x"), .ok),
        ]
        for (body, status) in bodies {
            let transport = ScriptedTransport(on: clock) { _ in .bytes(Array(body.utf8), status: status) }
            let source = AWSCredentials.assumingRole(
                "arn", region: "cn-north-1", with: .keys(id: "BASE", secret: "cAnArY7", token: "cAnArY7"))
            let failure = try #require(try fetch(source, transport).failure)
            #expect(failure.code == .noCredentials && !"\(failure)".contains("cAnArY7"))
            #expect(failure.message.contains("AccessDenied") == (status == .forbidden))
            #expect(transport.requests.first?.url.host() == "sts.cn-north-1.amazonaws.com.cn")
        }
    }

    /// A web identity is read again for each renewal.
    @Test func webIdentity() throws {
        let files = MemoryFileSystem(on: clock)
        let transport = ScriptedTransport(on: clock, files: files) { _ in .bytes(Array(Self.role.utf8)) }
        let variables = [
            "AWS_WEB_IDENTITY_TOKEN_FILE": "/token", "AWS_ROLE_ARN": "arn", "AWS_ROLE_SESSION_NAME": "me",
            "AWS_REGION": "eu-west-1",
        ]
        let source = AWSCredentials.webIdentity(variables)
        #expect(try fetch(source, transport).failure?.code == .noCredentials)
        try file(files, "/token", "jwt1")
        #expect(try fetch(source, transport).values.count == 1)
        try clock.advance(by: .seconds(3400))
        try file(files, "/token", "jwt2")
        _ = try fetch(source, transport)
        let forms = transport.requests.map { request -> String in
            guard case .bytes(let bytes) = request.body else { return "" }
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(forms.map { $0.suffix(4) } == ["jwt1", "jwt2"])
        #expect(transport.requests.allSatisfy { $0.headerFields[.authorization] == nil })
        #expect(try fetch(.webIdentity([:]), transport).failure?.code == .noCredentials)
    }

    /// Timestamps of RFC 3339 are read, and no others.
    @Test func timestamps() {
        let second = Date(timeIntervalSince1970: 1_700_003_600)
        for text in [
            "2023-11-14T23:13:20Z", "2023-11-14t23:13:20z", "2023-11-14T23:13:20.123Z",
            "2023-11-15T01:13:20+02:00",
            "2023-11-14T18:13:20-05:00",
        ] {
            #expect(Date(awsTimestamp: text) == second)
        }
        for text in [
            "", "2023-11-14", "2023-11-14T23:13:20", "2023-13-14T23:13:20Z", "2023-11-14T23:13:20.Z",
            "2023-11-14T23:13:20+2:00", "2023-11-14T23:13:20Zx", "2023-11-14T23:13:2\u{E9}Z",
        ] {
            #expect(Date(awsTimestamp: text) == nil)
        }
    }
}

/// Counts from 1.
final class Counter: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}
#endif
