#if Auth
import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

@testable import RxAuth

/// Requests of a client that signs them for AWS.
@Suite struct AWSSignerTests {
    private let clock = VirtualScheduler()

    private func client(
        _ signer: AWSSigner, at url: String = "https://bucket.s3.eu-west-1.amazonaws.com",
        _ reply: @escaping @Sendable (Request) -> ScriptedTransport.Reply = { _ in .json("1") }
    ) -> (Client, ScriptedTransport) {
        let transport = ScriptedTransport(on: clock, reply: reply)
        var configuration = ClientConfiguration(baseURL: url)
        configuration.signer = signer
        configuration.options.retry = .exponentialBackoff(backoff: .constant(.seconds(1)))
        return (Client(configuration: configuration, transport: transport), transport)
    }

    private static let keys = AWSCredentials.keys(id: "AKIDEXAMPLE", secret: "secret", token: "token")

    private func signer(
        _ service: String = "s3", _ payload: AWSPayloadSigning = .automatic,
        _ version: AWSSignatureVersion = .v4, credentials: AWSCredentials = keys
    ) -> AWSSigner {
        .aws(
            service: service, region: "eu-west-1", credentials: credentials, payload: payload,
            version: version)
    }

    @discardableResult
    private func run<T>(_ stream: Observable<T, NetworkError>) throws -> Recorder<T, NetworkError> {
        let recorder = Recorder(stream, on: clock)
        try clock.run()
        return recorder
    }

    /// Only S3 and the services with its rules sign a path as it is sent; the names of others begin alike.
    @Test(arguments: [("s3", "%3A"), ("s3express", "%3A"), ("s3tables", "%253A"), ("s3vectors", "%253A")])
    func paths(of service: String, colon: String) {
        let scheme = AWSSigningScheme(service: service, region: "eu-west-1", version: .v4)
        let canonical = AWSCanonicalRequest(
            method: "GET", path: "/tables/arn%3Aaws".utf8, scheme.pathRule, query: "".utf8,
            AWSSignedFields([:], host: "example.com"), payload: "")
        let lines = String(decoding: canonical.bytes, as: UTF8.self).split(separator: "\n")
        #expect(lines[1] == "/tables/arn\(colon)aws")
        #expect(scheme.sendsPayloadHash == (colon == "%3A"))
    }

    /// A request carries date, token, hash and signature.
    @Test func fields() throws {
        let (client, transport) = client(signer())
        try run(client.put("/a%20b.txt", .text("hello"), query: ["x": 1]))
        let sent = try #require(transport.requests.first)
        #expect(sent.headerFields[.amzDate] == AWSDate(clock.date).text)
        #expect(sent.headerFields[.amzSecurityToken] == "token")
        #expect(
            sent.headerFields[.amzContentSHA256]
                == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
        let authorization = try #require(sent.headerFields[.authorization])
        #expect(authorization.hasPrefix("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"))
        #expect(
            authorization.contains(
                "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token, "))
    }

    /// Cookies are signed as they are sent: as one field, whose parts a semicolon separates.
    @Test func cookies() {
        var fields: HTTPFields = [.accept: "*/*"]
        fields[.cookie] = "a=1; b=2"
        #expect(fields.count == 3)
        let canonical = AWSCanonicalRequest(
            method: "GET", path: "/".utf8, .standard, query: "".utf8,
            AWSSignedFields(fields, host: "example.com"), payload: "")
        let lines = String(decoding: canonical.bytes, as: UTF8.self).split(separator: "\n")
        #expect(lines.contains("cookie:a=1; b=2"))
    }

    /// Retries are signed with their own time.
    @Test func retries() throws {
        let script = ScriptedTransport.Script([.status(.serviceUnavailable), .json("1")])
        let (client, transport) = client(signer()) { _ in script.next() }
        try run(client.get("/x"))
        let dates = transport.requests.map { $0.headerFields[.amzDate] }
        #expect(dates.count == 2 && Set(dates).count == 2)
        #expect(Set(transport.requests.map { $0.headerFields[.authorization] }).count == 2)
    }

    /// A clock that is wrong is corrected by the server's, once.
    @Test func skew() throws {
        let script = ScriptedTransport.Script([
            .status(.forbidden, headers: [.date: "Sat, 01 Jan 2000 01:00:00 GMT"]), .json("1"), .json("2"),
            .status(.forbidden, headers: [.date: "Sat, 01 Jan 2000 01:01:00 GMT"]),
        ])
        let (client, transport) = client(signer()) { _ in script.next() }
        let start = clock.date
        #expect(try run(client.get("/x")).values.count == 1)
        try run(client.get("/y"))
        #expect(try run(client.get("/z")).failure?.status == .forbidden)
        let dates = transport.requests.map { $0.headerFields[.amzDate] }
        #expect(dates[0] == AWSDate(start).text)
        #expect(dates[1...].allSatisfy { $0?.hasPrefix("20000101T0100") == true })
        #expect(dates.count == 4, "a refusal with the right time is not repeated")
    }

    /// Redirects within AWS are signed for the new host, others are not.
    @Test func redirects() throws {
        let script = ScriptedTransport.Script([
            .status(.temporaryRedirect, headers: [.location: "https://bucket.s3.us-west-2.amazonaws.com/x"]),
            .status(.temporaryRedirect, headers: [.location: "https://amazonaws.com.evil.test/x"]),
            .json("1"),
        ])
        let (client, transport) = client(signer()) { _ in script.next() }
        try run(client.get("/x"))
        #expect(transport.requests.map { $0.headerFields[.authorization] != nil } == [true, true, false])
        #expect(transport.requests[2].headerFields[.amzSecurityToken] == nil)
        let signatures = transport.requests.map { $0.headerFields[.authorization] }
        #expect(signatures[0] != signatures[1])
        for (url, isTrusted) in [
            ("https://s3.amazonaws.com", true), ("http://s3.amazonaws.com", false),
            ("https://notamazonaws.com", false),
            ("https://amazonaws.com", true),
        ] {
            let origin = try #require(URL(string: url).flatMap { Origin($0) })
            #expect(signer().signsRequests(to: origin) == isTrusted)
        }
    }

    /// Streamed content is signed in chunks for S3, and hashed beforehand for other services.
    @Test func streams() throws {
        let chunks = Observable<[UInt8], NetworkError>.sequence([Array("hel".utf8), Array("lo".utf8)])
        let (s3, s3Transport) = client(signer())
        try run(s3.put("/x", .body(.stream(chunks, length: 5))))
        let sent = try #require(s3Transport.requests.first)
        #expect(sent.headerFields[.amzContentSHA256] == "STREAMING-AWS4-HMAC-SHA256-PAYLOAD")
        #expect(sent.headerFields[.amzDecodedContentLength] == "5")
        #expect(sent.headerFields[.contentEncoding] == "aws-chunked")
        // The content, and the frames of its chunk and of the last one.
        let (content, frames): (Int64, Int64) = (5, 172)
        #expect(sent.body.count == content + frames)

        let (other, transport) = client(signer("dynamodb"))
        try run(other.put("/x", .body(.stream(chunks, isReplayable: true))))
        let hashed = try #require(transport.requests.first)
        #expect(hashed.headerFields[.amzContentSHA256] == nil && hashed.headerFields[.contentEncoding] == nil)
        try run(other.put("/x", .text("hello"), headers: ["Content-Type": "application/octet-stream"]))
    }

    /// A stream of no bytes is signed as no content, whatever signs other content.
    @Test(arguments: [AWSPayloadSigning.automatic, .hashed, .chunked, .chunkedWithChecksum(.crc32)])
    func emptyStreams(payload: AWSPayloadSigning) throws {
        let (client, transport) = client(signer("s3", payload))
        #expect(try run(client.put("/x", .body(.stream(.empty(), length: 0)))).failure == nil)
        let sent = try #require(transport.requests.first)
        #expect(sent.headerFields[.amzContentSHA256] == AWSSigningScheme.emptyPayload)
    }

    /// Content that cannot be signed as configured is refused before anything is sent.
    @Test func refusals() throws {
        let once = Body.stream(.just([1]))
        let cases: [(AWSSigner, String, Body)] = [
            (signer("dynamodb"), "https://dynamodb.eu-west-1.amazonaws.com", once),
            (signer("s3", .hashed), "https://a.test", once), (signer("s3", .chunked), "https://a.test", once),
            (signer("s3", .unsigned), "http://a.test", .bytes([1])), (signer(), "http://a.test", once),
            (signer("s3", .unsignedWithChecksum(.crc32)), "http://a.test", .bytes([1])),
        ]
        for (signer, url, body) in cases {
            let (client, transport) = client(signer, at: url)
            #expect(try run(client.put("/x", .body(body))).failure?.code == .invalidConfiguration)
            #expect(transport.requests.isEmpty)
        }
    }

    /// Each way to cover content names itself.
    @Test func payloads() throws {
        let ways: [(AWSPayloadSigning, AWSSignatureVersion, String)] = [
            (.unsigned, .v4, "UNSIGNED-PAYLOAD"), (.chunked, .v4, "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"),
            (.chunked, .v4a, "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD"),
            (.chunkedWithChecksum(.crc32), .v4, "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"),
            (.unsignedWithChecksum(.crc64nvme), .v4, "STREAMING-UNSIGNED-PAYLOAD-TRAILER"),
        ]
        for (payload, version, name) in ways {
            let (client, transport) = client(signer("s3", payload, version))
            try run(client.put("/x", .text("hello")))
            let sent = try #require(transport.requests.first)
            #expect(sent.headerFields[.amzContentSHA256] == name)
            #expect((sent.headerFields[.amzTrailer] != nil) == name.hasSuffix("TRAILER"))
        }
    }

    /// Content that is covered is sent without compression.
    @Test func compression() throws {
        let (client, transport) = client(signer())
        try run(
            client.put("/x", .text("hello"), options: RequestOptions(compressesContent: true)))
        #expect(transport.requests.first?.compressesContent == false)
    }

    /// A presigned URL carries everything in its query, and needs a signer of AWS.
    @Test func presigned() throws {
        let (client, transport) = client(signer())
        let key = "2026/tea (1).jpg"
        let link = try client.presigned(.get("/bucket/{key...}", at: ["key": key]), for: .seconds(900))
        #expect(link.path() == "/bucket/2026/tea%20%281%29.jpg")
        let query = try #require(link.query())
        for part in ["X-Amz-Expires=900&", "X-Amz-SignedHeaders=host&", "X-Amz-Security-Token=token&"] {
            #expect(query.contains(part))
        }
        #expect(query.contains("&X-Amz-Signature="))
        let upload = try client.presigned(
            .put("/x", headers: ["Content-Type": "image/png"]), for: .seconds(60))
        #expect(upload.query()?.contains("X-Amz-SignedHeaders=content-type%3Bhost") == true)
        let withQuery = try client.presigned(.get("/x", query: ["versionId": "7"]), for: .seconds(60))
        #expect(withQuery.query()?.hasPrefix("versionId=7&X-Amz-Algorithm=") == true)
        #expect(try run(client.presigning(.get("/x"), for: .seconds(60))).values.count == 1)
        #expect(transport.requests.isEmpty)
        for duration in [Duration.zero, .milliseconds(999), .seconds(604_801)] {
            #expect(throws: NetworkError.self) { try client.presigned(.get("/x"), for: duration) }
        }
        let plain = Client(baseURL: "https://a.test", transport: transport)
        #expect(throws: NetworkError.self) { try plain.presigned(.get("/x"), for: .seconds(1)) }
    }

    /// Without keys in the environment, presigning fails as a request does: the error names the missing variables.
    @Test(arguments: [[], ["AWS_ACCESS_KEY_ID"], ["AWS_SECRET_ACCESS_KEY"]] as [[String]])
    func missingVariables(present: [String]) throws {
        let variables = Dictionary(uniqueKeysWithValues: present.map { ($0, "x") })
        let (client, transport) = client(signer(credentials: .environment(variables)))
        let error = #expect(throws: NetworkError.self) {
            try client.presigned(.get("/x"), for: .seconds(60))
        }
        #expect(error?.code == .noCredentials)
        for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] {
            #expect(error?.message.contains(name) == !present.contains(name))
        }
        #expect(try run(client.get("/x")).failure?.message == error?.message)
        #expect(try run(client.presigning(.get("/x"), for: .seconds(60))).failure?.message == error?.message)
        #expect(transport.requests.isEmpty)
    }

    /// Keys, tokens and signatures are not shown.
    @Test func secrets() throws {
        let (client, transport) = client(signer()) { _ in .failure(.connectionLost) }
        let traffic = Recorder(client.traffic, on: clock)
        let failure = try #require(
            try run(client.get("/x", options: RequestOptions(retry: .never))).failure)
        let sent = try #require(transport.requests.first)
        let signature = try #require(
            sent.headerFields[.authorization]?.components(separatedBy: "Signature=").last)
        let texts =
            ["\(failure)", "\(sent)", sent.curlCommand(), "\(Self.keys)", "\(signer())"]
            + traffic.values.map { "\($0)" }
        for text in texts {
            #expect(!text.contains(signature) && !text.contains("AKIDEXAMPLE"))
        }
    }
}
#endif
