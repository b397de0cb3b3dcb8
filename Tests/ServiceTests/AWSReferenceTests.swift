#if Auth
import Crypto
import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxNetworking
import RxTesting
import TestServers
import Testing

@testable import RxAuth

/// Signatures for AWS, beside those that botocore makes for the same random requests.
@Suite(.enabled(if: Service.programs != nil), .timeLimit(.minutes(2))) struct AWSReferenceTests {
    /// A request for the script.
    fileprivate struct Case: Encodable, Sendable {
        var kind = "headers"
        let service: String
        let region: String
        let method: String
        let url: String
        var fields: [SigningReference.Field] = []
        var body: [UInt8] = []
        let date: Int
        let id: String
        let secret: String
        var token: String?
        var expiry: Int?
        var checksum: String?

        enum CodingKeys: CodingKey {
            case kind, service, region, method, url, fields, body, date, id, secret, token, expiry, checksum
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(kind, forKey: .kind)
            try values.encode(service, forKey: .service)
            try values.encode(region, forKey: .region)
            try values.encode(method, forKey: .method)
            try values.encode(url, forKey: .url)
            try values.encode(fields, forKey: .fields)
            try values.encode(Data(body).base64EncodedString(), forKey: .body)
            try values.encode(date, forKey: .date)
            try values.encode(id, forKey: .id)
            try values.encode(secret, forKey: .secret)
            try values.encodeIfPresent(token, forKey: .token)
            try values.encodeIfPresent(expiry, forKey: .expiry)
            try values.encodeIfPresent(checksum, forKey: .checksum)
        }

        var credential: AWSCredential {
            AWSCredential(accessKeyID: id, secretAccessKey: secret, sessionToken: token)
        }

        func signer(
            _ payload: AWSPayloadSigning = .automatic, _ version: AWSSignatureVersion = .v4
        ) -> AWSSigner {
            .aws(
                service: service, region: region,
                credentials: .keys(id: id, secret: secret, token: token), payload: payload, version: version)
        }

        func request() throws -> Request {
            var request = Request(
                method: try #require(HTTPRequest.Method(method)), url: try #require(URL(string: url)),
                body: body.isEmpty ? .empty : .bytes(body))
            #expect(request.urlText == url)
            for field in fields {
                request.headerFields.append(
                    HTTPField(name: try #require(HTTPField.Name(field.name)), value: field.value))
            }
            return request
        }
    }

    private struct Answer: Decodable, Sendable {
        let fields: [SigningReference.Field]
        let url: String
        let body: String?
    }

    /// `SIGNED_REQUESTS` of the environment, or 2,000.
    private static let count =
        ProcessInfo.processInfo.environment["SIGNED_REQUESTS"].flatMap { Int($0) } ?? 2000

    private let transport = Client(baseURL: "http://127.0.0.1").transport

    private func signed(_ test: Case, by signer: AWSSigner) async throws -> Request {
        let date = Date(timeIntervalSince1970: Double(test.date))
        let context = SigningContext(date: date, scheduler: transport.scheduler, transport: transport)
        return try await signer.sign(test.request(), in: context).value()
    }

    /// The signature in the header fields.
    @Test func headers() async throws {
        var random = SeededRandom(1)
        let cases = (0..<Self.count / 2).map { _ in Case.random(using: &random) }
        let answers: [Answer] = try await SigningReference.run("aws", cases)
        try #require(answers.count == cases.count)
        for (test, answer) in zip(cases, answers) {
            let request = try await signed(test, by: test.signer())
            for name in ["authorization", "x-amz-date", "x-amz-security-token", "x-amz-content-sha256"] {
                let own = HTTPField.Name(name).flatMap { request.headerFields[$0] }
                #expect(own == answer.fields[name], "\(name) of \(test.method) \(test.url)")
            }
        }
    }

    /// The signature in the query of a presigned URL.
    @Test func queries() async throws {
        var random = SeededRandom(2)
        let cases = (0..<Self.count / 4).map { _ in
            var test = Case.random(using: &random)
            (test.kind, test.body) = ("query", [])
            test.expiry = Int.random(in: 1...604_800, using: &random)
            return test
        }
        let answers: [Answer] = try await SigningReference.run("aws", cases)
        for (test, answer) in zip(cases, answers) {
            let (signer, request) = (test.signer(), try test.request())
            let (date, key) = try signer.signing(
                by: test.credential, at: Date(timeIntervalSince1970: Double(test.date)))
            let query = try signer.scheme.presignedQuery(
                test.method, AWSTarget(of: request), request.headerFields, expiry: try #require(test.expiry),
                payload: signer.scheme.isS3
                    ? AWSSigningScheme.unsignedPayload : AWSSigningScheme.emptyPayload,
                by: test.credential, at: date, with: key)
            // The order of the pairs before the signature is free.
            func pairs(_ query: String) -> [String] { query.split(separator: "&").map(String.init).sorted() }
            let other = answer.url.split(separator: "?", maxSplits: 1).last.map(String.init) ?? ""
            #expect(pairs(query) == pairs(other), "\(test.method) \(test.url)")
        }
    }

    /// Content with a checksum in its trailer, and the request around it.
    @Test func chunks() async throws {
        let checksums: [(String, AWSChecksum)] = [
            ("crc32", .crc32), ("crc32c", .crc32c), ("crc64nvme", .crc64nvme), ("sha1", .sha1),
            ("sha256", .sha256),
        ]
        var random = SeededRandom(3)
        var cases: [Case] = [], requests: [Request] = []
        for _ in 0..<Self.count / 8 {
            let (name, checksum) = checksums[Int.random(in: 0..<checksums.count, using: &random)]
            var test = Case.random(service: "s3", scheme: "https", using: &random)
            test.kind = "chunks"
            test.checksum = name
            let length = [1, 65_535, 65_536, 65_537, 200_000, 1000][Int.random(in: 0..<6, using: &random)]
            test.body = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            let request = try await signed(test, by: test.signer(.unsignedWithChecksum(checksum)))
            for name in ["content-encoding", "x-amz-decoded-content-length", "x-amz-trailer"] {
                let field = try #require(HTTPField.Name(name))
                test.fields.append(.init(name, try #require(request.headerFields[field])))
            }
            cases.append(test)
            requests.append(request)
        }
        let answers: [Answer] = try await SigningReference.run("aws", cases)
        for (request, answer) in zip(requests, answers) {
            #expect(request.headerFields[.authorization] == answer.fields["authorization"])
            guard case .streamed(let body) = request.body else {
                Issue.record("the content is not coded")
                continue
            }
            let chunks: Observable<[UInt8], NetworkError> = body.open(transport.files).flatMap { $0.chunks }
            let bytes = Array(try await chunks.collect().value().joined())
            #expect(Data(bytes).base64EncodedString() == answer.body && body.count == Int64(bytes.count))
        }
    }

    /// The signatures of version 4A by the common runtime of AWS, which differ each time, are valid for this project's
    /// text and key.
    @Test func version4A() async throws {
        var random = SeededRandom(4)
        let cases = (0..<Self.count / 8).map { _ in
            var test = Case.random(using: &random)
            test.kind = "asymmetric"
            return test
        }
        let answers: [Answer] = try await SigningReference.run("aws", cases)
        for (test, answer) in zip(cases, answers) {
            let signer = test.signer(.automatic, .v4a)
            var request = try await signed(test, by: signer)
            let own = try #require(request.headerFields[.authorization])
            let other = try #require(answer.fields["authorization"])
            request.headerFields[.authorization] = nil
            let (date, key) = try signer.signing(
                by: test.credential, at: Date(timeIntervalSince1970: Double(test.date)))
            let payload = test.body.isEmpty ? AWSSigningScheme.emptyPayload : test.body.sha256Text
            let target = try AWSTarget(of: request)
            let canonical = AWSCanonicalRequest(
                method: request.method.rawValue, path: target.path.utf8, signer.scheme.pathRule,
                query: target.query.utf8, AWSSignedFields(request.headerFields, host: target.host),
                payload: payload)
            let text = key.stringToSign(date, [canonical.bytes.sha256Text])
            let publicKey = try #require(key.publicKey)
            for authorization in [own, other] {
                let parts = authorization.split(separator: "Signature=")
                try #require(parts.count == 2)
                #expect(parts[0] == own.split(separator: "Signature=")[0])
                let signature = try P256.Signing.ECDSASignature(derRepresentation: bytes(of: parts[1]))
                #expect(publicKey.isValidSignature(signature, for: text), "\(test.method) \(test.url)")
            }
        }
    }

    private func bytes(of hexadecimal: Substring) -> [UInt8] {
        let digits = hexadecimal.utf8.compactMap(\.hexadecimalDigit)
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

extension AWSReferenceTests.Case {
    /// A request with any path and query, some fields, and some content.
    fileprivate static func random(
        service given: String? = nil, scheme: String? = nil, using random: inout SeededRandom
    ) -> Self {
        func pick<Value>(_ values: [Value], _ random: inout SeededRandom) -> Value {
            values[Int.random(in: 0..<values.count, using: &random)]
        }
        func text(_ count: ClosedRange<Int>, of characters: [String], _ random: inout SeededRandom) -> String
        {
            (0..<Int.random(in: count, using: &random)).map { _ in pick(characters, &random) }.joined()
        }
        let plain = "abcxyzABCXYZ0129-._~".map(String.init)
        let wild =
            plain + [
                "ä", "€", "日", "🙂", " ", "+", "=", "&", "%", "/", "?", "#", ":", "@", "!", "*", "'", "(",
            ]
        let service = given ?? pick(["s3", "s3", "dynamodb", "execute-api", "es", "sts", "logs"], &random)
        let segments = (0..<Int.random(in: 0...5, using: &random)).map { _ in
            // The keys of S3 may have such segments; elsewhere they are removed before the signature.
            Bool.random(using: &random) && Bool.random(using: &random)
                ? pick(["", ".", ".."], &random) : escaped(text(1...9, of: wild, &random))
        }
        var names: Set<String> = []
        let pairs = (0..<Int.random(in: 0...4, using: &random)).compactMap { _ -> String? in
            let name = escaped(text(1...6, of: wild, &random))
            guard names.insert(name).inserted else { return nil }
            return name + "=" + escaped(text(0...9, of: wild, &random))
        }
        let host = text(1...8, of: ["a", "b", "c", "1"], &random) + ".example.com"
        let scheme = scheme ?? pick(["http", "https"], &random)
        let port = pick(["", "", ":8443", scheme == "https" ? ":443" : ":80"], &random)
        var fields: [SigningReference.Field] = []
        for name in ["Content-Type", "X-Amz-Meta-Name", "Range", "User-Agent", "X-Api", "Date-Of-Birth"]
        where Bool.random(using: &random) {
            let value = text(0...12, of: plain + [" ", "  ", ",", "\"", "="], &random)
            // Blanks at the ends never arrive at a server.
            fields.append(.init(name, "v" + value + "w"))
        }
        let length = pick([0, 0, 1, 300, 2000], &random)
        return Self(
            service: service, region: pick(["us-east-1", "eu-west-1", "ap-southeast-3"], &random),
            method: pick(["GET", "PUT", "POST", "DELETE", "PATCH", "HEAD"], &random),
            url: "\(scheme)://\(host)\(port)/" + segments.joined(separator: "/")
                + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")), fields: fields,
            body: (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &random) },
            date: Int.random(in: 946_684_800...2_208_988_800, using: &random),
            id: "AKID" + text(12...16, of: plain, &random), secret: text(20...40, of: wild, &random),
            token: Bool.random(using: &random) ? text(20...200, of: plain + ["/", "+", "="], &random) : nil)
    }

    private static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 { bytes.append(escaping: byte) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
#endif
