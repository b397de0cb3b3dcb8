#if Auth
import Foundation
import HTTPTypes

@testable import RxAuth

/// A case of the public test suite of AWS signatures, in a folder.
struct AWSSuiteCase: Sendable, CustomStringConvertible {
    private struct Context: Decodable {
        struct Credentials: Decodable {
            let accessKeyId: String
            let secretAccessKey: String
            let token: String?
        }

        let credentials: Credentials
        let expirationInSeconds: Int
        let normalize: Bool
        let region: String
        let service: String
        let signBody: Bool
        let timestamp: String
        let omitSessionToken: Bool?
    }

    let description: String
    let version: AWSSignatureVersion
    let method: String
    let target: AWSTarget
    let fields: HTTPFields
    let body: [UInt8]
    let credential: AWSCredential
    let date: AWSDate
    let scheme: AWSSigningScheme
    let expiry: Int
    let signsBody: Bool
    private let folder: URL

    /// Where the suite is, if it is on this machine.
    private static let suite = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../../shared/data/aws-signing").standardized

    static func all(_ version: AWSSignatureVersion) -> [AWSSuiteCase] {
        let places = [suite, URL(filePath: "/work/shared/data/aws-signing")]
        let name = version == .v4 ? "v4" : "v4a"
        for place in places {
            let folder = place.appending(path: name)
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else {
                continue
            }
            // Two cases of version 4A have no results.
            return names.sorted().compactMap { try? AWSSuiteCase(folder.appending(path: $0), version) }
                .filter { (try? $0.file("header-canonical-request.txt")) != nil }
        }
        return []
    }

    init(_ folder: URL, _ version: AWSSignatureVersion) throws {
        self.folder = folder
        self.version = version
        description = folder.lastPathComponent
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let context = try decoder.decode(
            Context.self, from: Data(contentsOf: folder.appending(path: "context.json")))
        let text = try String(contentsOf: folder.appending(path: "request.txt"), encoding: .utf8)
        let parts = text.components(separatedBy: "\n\n")
        body = parts.count > 1 ? Array(parts[1].utf8) : []
        var lines: [String] = []
        for line in parts[0].split(separator: "\n") {
            if line.hasPrefix(" ") { lines[lines.count - 1] += line } else { lines.append(String(line)) }
        }
        let words = lines[0].split(separator: " ")
        method = String(words[0])
        let place = words[1..<(words.count - 1)].joined(separator: " ")
        let sides = place.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var fields: HTTPFields = [:]
        var host = ""
        for line in lines.dropFirst() {
            let sides = line.split(separator: ":", maxSplits: 1)
            let (name, value) = (String(sides[0]), sides.count > 1 ? String(sides[1]) : "")
            if name.lowercased() == "host" {
                host = value
            } else if let name = HTTPField.Name(name) {
                fields.append(HTTPField(name: name, value: value))
            }
        }
        self.fields = fields
        target = AWSTarget(
            host: host, path: sides[0], query: sides.count > 1 ? sides[1] : "")
        credential = AWSCredential(
            accessKeyID: context.credentials.accessKeyId,
            secretAccessKey: context.credentials.secretAccessKey,
            sessionToken: context.credentials.token)
        date = AWSDate(try Date(context.timestamp, strategy: .iso8601))
        var scheme = AWSSigningScheme(service: context.service, region: context.region, version: version)
        scheme.pathRule.isNormalized = context.normalize
        scheme.signsSessionToken = context.omitSessionToken != true
        self.scheme = scheme
        expiry = context.expirationInSeconds
        signsBody = context.signBody
    }

    func key() throws -> AWSSigningKey {
        try AWSSigningKey(
            version, of: credential, day: date.day, region: scheme.region, service: scheme.service)
    }

    /// The content of a file of the case.
    func file(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8).trimmingCharacters(
            in: .newlines)
    }

    /// The request in canonical form, with the fields of a signature in `Authorization`.
    var canonical: AWSCanonicalRequest {
        var fields = fields
        let payload = body.sha256Text
        fields[.amzDate] = date.text
        if scheme.signsSessionToken { fields[.amzSecurityToken] = credential.sessionToken }
        if signsBody { fields[.amzContentSHA256] = payload }
        if version == .v4a { fields[.amzRegionSet] = scheme.region }
        return AWSCanonicalRequest(
            method: method, path: target.path.utf8, scheme.pathRule, query: target.query.utf8,
            AWSSignedFields(fields, host: target.host), payload: payload)
    }
}
#endif
