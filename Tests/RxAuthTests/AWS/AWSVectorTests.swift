#if Auth
import Crypto
import Foundation
import HTTPTypes
import RxHTTP
import Testing

@testable import RxAuth

/// The public test suite of AWS, and its main cases once more.
@Suite struct AWSVectorTests {
    /// The canonical request, the text to sign and the signature are those of the suite.
    @Test(arguments: AWSSuiteCase.all(.v4))
    func headers(_ test: AWSSuiteCase) throws {
        let key = try test.key()
        let canonical = test.canonical
        #expect(
            String(decoding: canonical.bytes, as: UTF8.self)
                == (try test.file("header-canonical-request.txt")))
        let text = key.stringToSign(test.date, [canonical.bytes.sha256Text])
        #expect(String(decoding: text, as: UTF8.self) == (try test.file("header-string-to-sign.txt")))
        #expect(try key.signature(of: text) == test.file("header-signature.txt"))
        #expect(
            try test.file("header-signed-request.txt").contains("SignedHeaders=\(canonical.signedHeaders),"))
    }

    /// The signature of a presigned URL is that of the suite.
    @Test(arguments: AWSSuiteCase.all(.v4))
    func queries(_ test: AWSSuiteCase) throws {
        let query = try test.scheme.presignedQuery(
            test.method, test.target, test.fields, expiry: test.expiry, payload: test.body.sha256Text,
            by: test.credential, at: test.date, with: test.key())
        #expect(query.hasSuffix("&X-Amz-Signature=\(try test.file("query-signature.txt"))"))
    }

    /// Version 4A derives the key of the suite, and signs the text of the suite.
    @Test(arguments: AWSSuiteCase.all(.v4a))
    func version4A(_ test: AWSSuiteCase) throws {
        let key = try test.key()
        let publicKey = try #require(key.publicKey)
        let point = try JSONDecoder().decode(
            [String: String].self, from: Data(test.file("public-key.json").utf8))
        #expect(
            Array(publicKey.rawRepresentation).hexadecimalText
                == [point["X"], point["Y"]].compactMap { $0 }.joined())
        let canonical = test.canonical
        #expect(
            String(decoding: canonical.bytes, as: UTF8.self)
                == (try test.file("header-canonical-request.txt")))
        let text = key.stringToSign(test.date, [canonical.bytes.sha256Text])
        #expect(String(decoding: text, as: UTF8.self) == (try test.file("header-string-to-sign.txt")))
        for signature in [try key.signature(of: text), try test.file("header-signature.txt")] {
            #expect(try verifies(signature, text, by: publicKey))
        }
    }

    /// A presigned URL of version 4A is valid for the text of the suite.
    @Test(arguments: AWSSuiteCase.all(.v4a))
    func queriesOfVersion4A(_ test: AWSSuiteCase) throws {
        let key = try test.key()
        let query = try test.scheme.presignedQuery(
            test.method, test.target, test.fields, expiry: test.expiry, payload: test.body.sha256Text,
            by: test.credential, at: test.date, with: key)
        let signature = try #require(query.components(separatedBy: "&X-Amz-Signature=").last)
        let text = Array(try test.file("query-string-to-sign.txt").utf8)
        #expect(try verifies(signature, text, by: #require(key.publicKey)))
    }

    private func verifies(_ signature: String, _ text: [UInt8], by key: P256.Signing.PublicKey) throws -> Bool
    {
        let digits = Array(signature.utf8)
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).map {
            (digits[$0].hexadecimalDigit ?? 0) << 4 | (digits[$0 + 1].hexadecimalDigit ?? 0)
        }
        return key.isValidSignature(
            try P256.Signing.ECDSASignature(derRepresentation: bytes), for: text)
    }

    // MARK: - The main cases, where the suite is not at hand

    static let credential = AWSCredential(
        accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")

    /// Method, URL, header fields and content, with the signature for `service` in `us-east-1`.
    static let signatures: [(String, String, [(String, String)], String)] = [
        ("GET", "/", [], "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("GET", "/example/..", [], "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("GET", "/./", [], "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        (
            "GET", "/", [("My-Header1", "value1   value2 value3 ")],
            "cfd34249e4b1c8d6b91ef74165d41a32e5fab3306300901bb65a51a73575eefd"
        ),
    ]

    /// The main cases of the suite.
    @Test(arguments: signatures)
    func table(method: String, target: String, fields: [(String, String)], signature: String) throws {
        let url = try #require(URL(string: "https://example.amazonaws.com\(target)"))
        var request = Request(method: try #require(HTTPRequest.Method(method)), url: url)
        for (name, value) in fields {
            request.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        let scheme = AWSSigningScheme(service: "service", region: "us-east-1", version: .v4)
        let date = AWSDate(Date(timeIntervalSince1970: 1_440_938_160))
        #expect(date.text == "20150830T123600Z")
        let key = try AWSSigningKey(
            .v4, of: Self.credential, day: date.day, region: scheme.region, service: scheme.service)
        let made = try scheme.sign(
            &request, payload: AWSSigningScheme.emptyPayload, by: Self.credential, at: date, with: key)
        #expect(made == signature)
        let fields = (["host"] + fields.map { $0.0.lowercased() } + ["x-amz-date"]).joined(separator: ";")
        #expect(
            request.headerFields[.authorization]
                == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
                + "SignedHeaders=\(fields), Signature=\(signature)")
    }

    /// From the guide of S3 ("Authenticating requests: using query parameters").
    /// The presigned URL of the guide of S3.
    @Test func presignedURL() throws {
        let credential = AWSCredential(
            accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
        let scheme = AWSSigningScheme(service: "s3", region: "us-east-1", version: .v4)
        let date = AWSDate(Date(timeIntervalSince1970: 1_369_353_600))
        let query = try scheme.presignedQuery(
            "GET", AWSTarget(host: "examplebucket.s3.amazonaws.com", path: "/test.txt", query: ""), [:],
            expiry: 86400, payload: AWSSigningScheme.unsignedPayload, by: credential, at: date,
            with: AWSSigningKey(.v4, of: credential, day: date.day, region: "us-east-1", service: "s3"))
        #expect(
            query
                == "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1"
                + "%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
                + "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404")
    }

    /// Dates of every kind of year have their text.
    @Test func dates() {
        let texts: [(Double, String)] = [
            (0, "19700101T000000Z"), (951_782_399.9, "20000228T235959Z"), (951_782_400, "20000229T000000Z"),
            (951_868_800, "20000301T000000Z"), (4_107_542_400, "21000301T000000Z"), (-1, "19691231T235959Z"),
            (1_709_164_800, "20240229T000000Z"), (.infinity, "99991231T235959Z"),
        ]
        for (time, text) in texts {
            #expect(AWSDate(Date(timeIntervalSince1970: time)).text == text)
        }
    }

    /// Paths and queries in every spelling become one.
    @Test func spellings() {
        func path(_ text: String, _ rule: AWSCanonicalRequest.PathRule) -> String {
            let canonical = AWSCanonicalRequest(
                method: "GET", path: text.utf8, rule, query: "".utf8, AWSSignedFields([:], host: "a"),
                payload: "")
            return String(decoding: canonical.bytes, as: UTF8.self).components(separatedBy: "\n")[1]
        }
        let paths: [(String, s3: String, standard: String)] = [
            ("", "/", "/"), ("/a%20b", "/a%20b", "/a%2520b"), ("/a(1)+b", "/a%281%29%2Bb", "/a%281%29%2Bb"),
            ("/%7e%2f%e4", "/~%2F%E4", "/%257e%252f%25e4"), ("//a/../b/", "//a/../b/", "/b/"),
            ("/a/..", "/a/..", "/"), ("/../..", "/../..", "/"), ("/%zz%", "/%25zz%25", "/%25zz%25"),
        ]
        for (text, s3, standard) in paths {
            #expect(path(text, .s3) == s3)
            #expect(path(text, .standard) == standard)
        }
        func query(_ text: String) -> String {
            var bytes: [UInt8] = []
            AWSCanonicalRequest.append(query: Array(text.utf8), to: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(query("b=2&a&a=1&&a=") == "a=&a=&a=1&b=2")
        #expect(query("a-=1&a=2&%61=0") == "a=0&a=2&a-=1")
        #expect(query("k=a/b c&%c3%a4=%7E") == "%C3%A4=~&k=a%2Fb%20c")
    }
}
#endif
