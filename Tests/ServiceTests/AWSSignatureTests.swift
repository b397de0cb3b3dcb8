#if Auth
import Foundation
import HTTPTypes
import RxHTTP
import TestServers
import Testing

@testable import RxAuth

/// Random requests, signed here and by botocore.
@Suite(.enabled(if: Service.programs != nil), .timeLimit(.minutes(2))) struct AWSSignatureTests {
    /// A request as the reference reads it.
    private struct Case: Encodable {
        var method: String
        var url: String
        var fields: [[String]]
        var body: String
        var date: String
        var seconds: Double
        var secret: String
        var token: String
        var service: String
        var region: String
        /// How long a presigned URL is valid; 0 for a signature in a field.
        var expiry: Int
    }

    private static let count = 2000

    /// Signatures of random requests are those of botocore.
    @Test(arguments: [1, 2] as [UInt64])
    func random(seed: UInt64) async throws {
        var random = Random(state: seed)
        var cases: [Case] = []
        var signatures: [String] = []
        for _ in 0..<(Self.count / 2) {
            let test = Self.request(&random)
            cases.append(test)
            signatures.append(try Self.signature(of: test))
        }
        let folder = try TemporaryFolder()
        let encoder = JSONEncoder()
        let lines = try cases.map { String(decoding: try encoder.encode($0), as: UTF8.self) + "\n" }
        try Data(lines.joined().utf8).write(to: URL(filePath: folder.file("cases.jsonl")))
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Services/aws.py").path
        let reference = try ChildProcess(
            #require(Service.programs) + "/python", [script, folder.file("cases.jsonl")])
        var index = 0
        while let line = try await reference.nextLine() {
            try #require(index < cases.count)
            let text = String(decoding: try encoder.encode(cases[index]), as: UTF8.self)
            #expect(line == signatures[index], "\(text)")
            index += 1
        }
        #expect(index == cases.count)
    }

    private static func signature(of test: Case) throws -> String {
        var fields: HTTPFields = [:]
        for field in test.fields {
            fields.append(HTTPField(name: try #require(HTTPField.Name(field[0])), value: field[1]))
        }
        let body = Array(try #require(Data(base64Encoded: test.body)))
        var request = Request(
            method: try #require(HTTPRequest.Method(test.method)), url: try #require(URL(string: test.url)),
            headerFields: fields, body: body.isEmpty ? .empty : .bytes(body))
        let credential = AWSCredential(
            accessKeyID: "AKIDEXAMPLE", secretAccessKey: test.secret,
            sessionToken: test.token.isEmpty ? nil : test.token)
        let date = AWSDate(Date(timeIntervalSince1970: test.seconds))
        let scheme = AWSSigningScheme(service: test.service, region: test.region, version: .v4)
        let key = try AWSSigningKey(
            .v4, of: credential, day: date.day, region: test.region, service: test.service)
        guard test.expiry > 0 else {
            return try scheme.sign(&request, payload: body.sha256Text, by: credential, at: date, with: key)
        }
        let query = try scheme.presignedQuery(
            test.method, AWSTarget(of: request), fields, expiry: test.expiry,
            payload: scheme.isS3 ? AWSSigningScheme.unsignedPayload : AWSSigningScheme.emptyPayload,
            by: credential, at: date, with: key)
        return try #require(query.components(separatedBy: "X-Amz-Signature=").last)
    }

    // MARK: - Random requests

    private static func request(_ random: inout Random) -> Case {
        let expiry = random.below(3) == 0 ? 1 + random.below(604_800) : 0
        let service = ["s3", "dynamodb", "execute-api"][random.below(3)]
        var path = ""
        for _ in 0..<random.below(5) {
            // Empty segments and dots are for services that normalize them; both leave the path of S3 alone.
            path += "/" + [random.text(8), "", ".", "..", random.text(3)][random.below(5)]
        }
        if path.isEmpty || random.below(3) == 0 { path += "/" }
        var names: Set<String> = []
        let pairs = (0..<random.below(5)).compactMap { _ -> String? in
            let name = random.text(4)
            // A presigned URL of the reference has each name once.
            guard !name.isEmpty, names.insert(name).inserted || expiry == 0 else { return nil }
            return "\(name)=\(random.text(6))"
        }
        let host = ["example.com", "bucket.s3.eu-west-1.amazonaws.com", "localhost:9000"][random.below(3)]
        var fields: [[String]] = []
        for number in 0..<random.below(4) {
            let values = ["a", "  a   b  ", "\"a  b\"", "", "1,2", "a\tb"]
            fields.append([
                "X-Field-\(random.below(3) == 0 ? 0 : number)", values[random.below(values.count)],
            ])
        }
        if random.below(3) == 0 { fields.append(["Content-Type", "application/json; charset=utf-8"]) }
        let body = expiry > 0 ? [] : (0..<random.below(64)).map { _ in UInt8(random.below(256)) }
        let seconds = Double(random.below(4_000_000_000))
        return Case(
            method: ["GET", "PUT", "POST", "DELETE", "HEAD"][random.below(5)],
            url: "https://\(host)\(path)" + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")),
            fields: fields, body: Data(body).base64EncodedString(),
            date: AWSDate(Date(timeIntervalSince1970: seconds)).text, seconds: seconds,
            secret: "secret" + random.text(20),
            token: random.below(2) == 0 ? "" : "token/+==" + random.text(9),
            service: service, region: ["eu-west-1", "us-east-1"][random.below(2)], expiry: expiry)
    }

    /// SplitMix64, so that a seed gives the same requests in each run.
    private struct Random {
        var state: UInt64

        mutating func below(_ limit: Int) -> Int {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
            return Int((value ^ value >> 31) % UInt64(limit))
        }

        /// Up to so many characters, escaped.
        mutating func text(_ limit: Int) -> String {
            let characters = [
                "a", "Z", "7", "-", "_", ".", "~", "%20", "%2F", "%C3%A4", "%2B", "%3D", "%25", "%28",
            ]
            return (0..<below(limit + 1)).map { _ in characters[below(characters.count)] }.joined()
        }
    }
}
#endif
