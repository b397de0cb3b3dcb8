#if Auth
import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Testing

@testable import RxAuth

/// The standard chain of AWS keys: a source that is configured and fails ends it, as in botocore, and one that is not
/// configured is skipped.
@Suite struct AWSChainTests {
    private let clock = VirtualScheduler(startingAt: Date(timeIntervalSince1970: 1_700_000_000))
    private let files: MemoryFileSystem

    init() throws {
        files = MemoryFileSystem(on: clock)
    }

    /// The outcome of a chain, where an instance has keys and the other services answer with `reply`.
    private func fetch(
        _ source: AWSCredentials, reply: ScriptedTransport.Reply = .status(.notFound)
    ) throws -> (id: String?, failure: NetworkError?) {
        let transport = ScriptedTransport(on: clock, files: files) { request in
            guard request.url.host() == "169.254.169.254" else { return reply }
            switch request.url.path() {
            case "/latest/api/token", "/latest/meta-data/iam/security-credentials/":
                return .bytes(Array("role".utf8))
            default:
                return .json(
                    #"{"Code":"Success","AccessKeyId":"INSTANCE","SecretAccessKey":"s","Token":"t"}"#)
            }
        }
        let recorder = Recorder(
            source.credential(
                in: SigningContext(date: clock.date, scheduler: clock, transport: transport)), on: clock)
        try clock.run()
        return (recorder.values.first?.accessKeyID, recorder.failure)
    }

    private func file(_ path: String, _ text: String) throws {
        _ = Recorder(files.replace(path, with: Array(text.utf8)), on: clock)
        try clock.run()
    }

    private static let webIdentity = ["AWS_WEB_IDENTITY_TOKEN_FILE": "/token", "AWS_ROLE_ARN": "arn"]
    private static let denied = ScriptedTransport.Reply.bytes(
        Array("<Error><Code>AccessDenied</Code></Error>".utf8), status: .forbidden)
    private static let role = """
        <AccessKeyId>ROLE</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>
        <Expiration>2023-11-14T23:13:20Z</Expiration>
        """

    /// A chain whose source is configured and fails: its environment, the files by their paths, and words of the error.
    struct Broken: Sendable, CustomTestStringConvertible {
        var variables: [String: String] = [:]
        var files: [String: String] = [:]
        var reply = ScriptedTransport.Reply.status(.notFound)
        let words: String

        var testDescription: String { words }
    }

    @Test(
        arguments: [
            Broken(variables: ["AWS_ACCESS_KEY_ID": "K"], words: "AWS_SECRET_ACCESS_KEY is not set"),
            Broken(
                variables: webIdentity, files: ["/token": "jwt"], reply: denied,
                words: "refused with status 403: AccessDenied"),
            Broken(
                variables: webIdentity, files: ["/token": "jwt"], reply: .failure(.attemptTimeout),
                words: "does not answer"),
            Broken(variables: webIdentity, words: "does not exist"),
            Broken(variables: ["AWS_WEB_IDENTITY_TOKEN_FILE": "/token"], words: "AWS_ROLE_ARN"),
            Broken(variables: ["AWS_PROFILE": "absent"], words: "no file with AWS profiles"),
            Broken(
                variables: ["AWS_PROFILE": "absent"], files: ["/h/.aws/config": "[default]\nregion=x"],
                words: "no AWS profile absent"),
            Broken(
                files: ["/h/.aws/config": "[default]\nrole_arn=r\nsource_profile=base"],
                words: "no AWS profile base"),
            Broken(
                files: [
                    "/h/.aws/config": "[default]\nrole_arn=r\nsource_profile=base\n",
                    "/h/.aws/credentials": "[base]\naws_access_key_id=B\naws_secret_access_key=s\n",
                ], reply: denied, words: "refused with status 403: AccessDenied"),
            Broken(files: ["/h/.aws/config": "[default]\nrole_arn=r\n"], words: "no source_profile"),
            Broken(
                files: ["/h/.aws/config": "[default]\nweb_identity_token_file=/token\n"],
                words: "no role_arn"),
            Broken(
                files: ["/h/.aws/config": "[default]\ncredential_process=/bin/x\n"],
                words: "credential_process is not supported"),
            Broken(
                variables: ["AWS_PROFILE": "work"],
                files: ["/h/.aws/config": "[profile work]\nsso_session=x\n"],
                words: "sso_session is not supported"),
            Broken(
                files: ["/h/.aws/credentials": "[default]\naws_access_key_id=K\n"], words: "has no keys"),
            Broken(
                variables: ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2"], reply: .status(.forbidden),
                words: "status 403"),
            Broken(
                variables: ["AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://keys.example.com/"],
                words: "neither an https URL"),
        ])
    func configured(chain: Broken) throws {
        for (path, text) in chain.files { try file(path, text) }
        let source = AWSCredentials.standard(chain.variables.merging(["HOME": "/h"]) { own, _ in own })
        let (id, failure) = try fetch(source, reply: chain.reply)
        #expect(id == nil && failure?.code == .noCredentials)
        #expect(failure?.message.contains(chain.words) == true, "\(failure?.message ?? "-")")
    }

    /// A source that is not configured, or empty, is skipped.
    @Test(
        arguments: [
            ([:], [:]), (["AWS_SECRET_ACCESS_KEY": "s"], [:]), (["AWS_ROLE_ARN": "arn"], [:]),
            (["AWS_WEB_IDENTITY_TOKEN_FILE": "", "AWS_ROLE_ARN": "", "AWS_PROFILE": ""], [:]),
            (
                ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": ""], [:]
            ),
            ([:], ["/h/.aws/config": "[default]\nregion=x\n[profile other]\ncredential_process=x\n"]),
            (["AWS_PROFILE": "work"], ["/h/.aws/config": "[profile work]\nregion=x\n"]),
            ([:], ["/h/.aws/credentials": "[other]\naws_access_key_id=K\naws_secret_access_key=s\n"]),
        ] as [([String: String], [String: String])])
    func notConfigured(variables: [String: String], contents: [String: String]) throws {
        for (path, text) in contents { try file(path, text) }
        let source = AWSCredentials.standard(variables.merging(["HOME": "/h"]) { own, _ in own })
        #expect(try fetch(source).id == "INSTANCE")
    }

    /// A source that has failed is asked again, and stays in use once it has keys.
    @Test func recovered() throws {
        try file("/token", "jwt")
        let source = AWSCredentials.standard(Self.webIdentity)
        #expect(try fetch(source, reply: Self.denied).failure?.code == .noCredentials)
        #expect(try fetch(source, reply: .bytes(Array(Self.role.utf8))).id == "ROLE")
        // The instance would have keys, which are those of another role.
        try clock.advance(by: .seconds(7200))
        #expect(try fetch(source, reply: Self.denied).failure?.code == .noCredentials)
    }

    /// Without any source, the error names all of them, and has that of the instance as its cause.
    @Test func nothing() throws {
        let variables = ["HOME": "/h", "AWS_EC2_METADATA_DISABLED": "true"]
        let failure = try #require(try fetch(.standard(variables)).failure)
        #expect(failure.message.contains("none of these") && failure.cause?.code == .noCredentials)
        #expect(failure.cause?.message.contains("AWS_EC2_METADATA_DISABLED") == true)
    }
}
#endif
