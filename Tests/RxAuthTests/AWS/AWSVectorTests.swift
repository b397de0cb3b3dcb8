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
        let text = key.stringToSign(test.date, canonical)
        #expect(String(decoding: text, as: UTF8.self) == (try test.file("header-string-to-sign.txt")))
        #expect(try key.signature(of: text) == test.file("header-signature.txt"))
        let names = String(decoding: canonical.signedNames, as: UTF8.self)
        #expect(try test.file("header-signed-request.txt").contains("SignedHeaders=\(names),"))
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

    /// A case of the suite, with its signature for `service` in `us-east-1`.
    struct Case: Sendable, CustomTestStringConvertible {
        var method = "GET"
        var target = "/"
        var fields: [(name: String, value: String)] = []
        var content = ""
        var token: String?
        /// Whether the token is signed, or added afterwards.
        var signsToken = true
        var isNormalized = true
        let signature: String

        var testDescription: String { "\(method) \(target) \(fields.map(\.name))" }
    }

    private static let token =
        "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8"
        + "YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6"
        + "q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlT"
        + "JabIQwj2ICCR/oLxBA=="

    static let cases: [Case] = [
        Case(signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        Case(
            target: "/example/..",
            signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        Case(
            target: "/./", signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        Case(
            target: "/example/..", isNormalized: false,
            signature: "eca7ead57bb5aa5c8e28007acd4ff04e1ff9a0ff3b237ec1554a184887ff9282"),
        Case(
            target: "//example//", isNormalized: false,
            signature: "87cca117541a147f6df867677d98a7d80dff226d2bfca9e4ffa899665623c7e5"),
        Case(
            target: "/?Param2=value2&Param1=value1",
            signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
        Case(
            target: "/ሴ", signature: "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
        Case(
            target: "/?ሴ=bar",
            signature: "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"),
        Case(
            fields: [("My-Header1", "value1   value2 value3 ")],
            signature: "cfd34249e4b1c8d6b91ef74165d41a32e5fab3306300901bb65a51a73575eefd"),
        Case(
            method: "POST",
            fields: [("Content-Type", "application/x-www-form-urlencoded"), ("Content-Length", "13")],
            content: "Param1=value1",
            signature: "d3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b"),
        Case(
            method: "POST", token: token,
            signature: "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"),
        Case(
            method: "POST", token: token, signsToken: false,
            signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        Case(
            token: "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267",
            signature: "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8"),
    ]

    /// The main cases of the suite.
    @Test(arguments: cases) func table(_ test: Case) throws {
        var scheme = AWSSigningScheme(service: "service", region: "us-east-1", version: .v4)
        scheme.pathRule.isNormalized = test.isNormalized
        let date = AWSDate(Date(timeIntervalSince1970: 1_440_938_160))
        #expect(date.text == "20150830T123600Z")
        let key = try AWSSigningKey(
            .v4, of: Self.credential, day: date.day, region: scheme.region, service: scheme.service)
        let payload = Array(test.content.utf8).sha256Text
        var fields: HTTPFields = [.amzDate: date.text]
        for (name, value) in test.fields {
            fields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        if test.signsToken { fields[.amzSecurityToken] = test.token }
        if !test.content.isEmpty { fields[.amzContentSHA256] = payload }
        let sides = test.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let canonical = AWSCanonicalRequest(
            method: test.method, path: sides[0].utf8, scheme.pathRule,
            query: (sides.count > 1 ? sides[1] : "").utf8,
            AWSSignedFields(fields, host: "example.amazonaws.com"), payload: payload)
        let text = key.stringToSign(date, [canonical.bytes.sha256Text])
        #expect(try key.signature(of: text) == test.signature)
    }

    /// A request as a client signs it, with the field that carries the signature.
    @Test func wholeRequest() throws {
        let url = try #require(URL(string: "https://example.amazonaws.com/?Param2=value2&Param1=value1"))
        var request = Request(url: url)
        let scheme = AWSSigningScheme(service: "service", region: "us-east-1", version: .v4)
        let date = AWSDate(Date(timeIntervalSince1970: 1_440_938_160))
        let key = try AWSSigningKey(
            .v4, of: Self.credential, day: date.day, region: scheme.region, service: scheme.service)
        _ = try scheme.sign(
            &request, payload: AWSSigningScheme.emptyPayload, by: Self.credential, at: date, with: key)
        #expect(
            request.headerFields[.authorization]
                == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
                + "SignedHeaders=host;x-amz-date, "
                + "Signature=b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500")
    }

    /// The key that version 4A derives from that of the suite.
    @Test func keyOfVersion4A() throws {
        let key = try AWSSigningKey(
            .v4a, of: Self.credential, day: "20150830", region: "us-east-1", service: "service")
        let point = try #require(key.publicKey)
        #expect(
            Array(point.rawRepresentation).hexadecimalText
                == "b6618f6a65740a99e650b33b6b4b5bd0d43b176d721a3edfea7e7d2d56d936b1"
                + "865ed22a7eadc9c5cb9d2cbaca1b3699139fedc5043dc6661864218330c8e518")
        let text = Array("text".utf8)
        #expect(try verifies(key.signature(of: text), text, by: point))
    }

    /// The presigned URL of the guide of S3 ("Authenticating requests: using query parameters").
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
