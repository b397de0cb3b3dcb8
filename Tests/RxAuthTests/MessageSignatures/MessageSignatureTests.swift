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

/// The test cases of RFC 9421, Appendix B, and the examples of its section 2.
@Suite struct MessageSignatureTests {
    static let digest =
        "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:"
    static let content = Array(#"{"hello": "world"}"#.utf8)
    static let url = "https://example.com/foo?param=Value&Pet=dog"
    static let fields: HTTPFields = [
        .date: "Tue, 20 Apr 2021 02:07:55 GMT", .contentType: "application/json",
        HTTPField.Name("Content-Digest")!: digest, .contentLength: "18",
    ]
    static let created = Date(timeIntervalSince1970: 1_618_884_473)

    /// Times beyond the integers of structured fields (RFC 9651 §3.3.1), and one that is no number.
    @Test(
        arguments: [
            (.infinity, 999_999_999_999_999), (-1e300, -999_999_999_999_999), (.nan, 0), (-0.5, -1),
        ] as [(Double, Int)])
    func dates(seconds: Double, written: Int) throws {
        let date = Date(timeIntervalSince1970: seconds)
        let input = try #require(
            MessageSignatureInput([], MessageSignatureParameters(created: date, expires: date)))
        #expect(input.text == "();created=\(written);expires=\(written)")
    }

    static func message(_ fields: HTTPFields = [:]) -> SignableMessage {
        var all = Self.fields
        for field in fields { all[field.name] = field.value }
        return SignableMessage(.post, url, headerFields: all, content: content)
    }

    static let ed25519 = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
        -----END PRIVATE KEY-----
        """
    static let ed25519Public = """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=
        -----END PUBLIC KEY-----
        """
    static let rsaPublic = """
        -----BEGIN PUBLIC KEY-----
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAr4tmm3r20Wd/PbqvP1s2
        +QEtvpuRaV8Yq40gjUR8y2Rjxa6dpG2GXHbPfvMs8ct+Lh1GH45x28Rw3Ry53mm+
        oAXjyQ86OnDkZ5N8lYbggD4O3w6M6pAvLkhk95AndTrifbIFPNU8PPMO7OyrFAHq
        gDsznjPFmTOtCEcN2Z1FpWgchwuYLPL+Wokqltd11nqqzi+bJ9cvSKADYdUAAN5W
        Utzdpiy6LbTgSxP7ociU4Tn0g5I6aDZJ7A8Lzo0KSyZYoA485mqcO0GVAdVw9lq4
        aOT9v6d+nb4bnNkQVklLQ3fVAvJm+xdDOp9LCNCN48V2pnDOkFV6+U9nV5oyc6XI
        2wIDAQAB
        -----END PUBLIC KEY-----
        """
    static let p256 = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIFKbhfNZfpDsW43+0+JjUr9K+bTeuxopu653+hBaXGA7oAoGCCqGSM49
        AwEHoUQDQgAEqIVYZVLCrPZHGHjP17CTW0/+D9Lfw0EkjqF7xB4FivAxzic30tMM
        4GF+hR6Dxh71Z50VGGdldkkDXZCnTNnoXQ==
        -----END EC PRIVATE KEY-----
        """
    static let p256Public = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqIVYZVLCrPZHGHjP17CTW0/+D9Lf
        w0EkjqF7xB4FivAxzic30tMM4GF+hR6Dxh71Z50VGGdldkkDXZCnTNnoXQ==
        -----END PUBLIC KEY-----
        """
    static let p384 = """
        -----BEGIN PUBLIC KEY-----
        MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEuOhIXYTXDj4N2SjIZa8gBX8unirdzN3/
        sN9YpAwm7tdBi2Y7wqHrzL0mPk0CC/REJQB0cXCeXIl7dbpIh9s6NTaUe0vKM5rw
        lbfyL3FIkvV0tZ0YhypDNXvDTDbYN2r6
        -----END PUBLIC KEY-----
        """
    static let secret =
        "uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ=="

    static func key(_ name: String?) -> MessageVerifyingKey? {
        switch name {
        case "test-key-rsa-pss": try? .pem(rsaPublic)
        case "test-key-ecc-p256": try? .pem(p256Public)
        case "test-key-ed25519": try? .pem(ed25519Public)
        case "test-shared-secret": Data(base64Encoded: secret).flatMap { try? .hmacSHA256(Array($0)) }
        default: nil
        }
    }

    static let policy = MessageVerifier.Policy(requiring: [], maxAge: nil)
    static let verifier = MessageVerifier(policy) { key($0.keyID) }

    /// Input, signature and, for the lines of the base, all but the last.
    static let requests: [(input: String, signature: String, base: [String])] = [
        (
            #"sig-b21=();created=1618884473;keyid="test-key-rsa-pss";nonce="b3k2pp5k7z-50gnwp.yemd""#,
            "sig-b21=:d2pmTvmbncD3xQm8E9ZV2828BjQWGgiwAaw5bAkgibUopemLJcWDy/lkbbHAve4cRAtx31Iq786U7it++wgGxbtRxf8Udx7zFZsckzXaJMkA7ChG52eSkFxykJeNqsrWH5S+oxNFlD4dzVuwe8DhTSja8xxbR/Z2cOGdCbzR72rgFWhzx2VjBqJzsPLMIQKhO4DGezXehhWwE56YCE+O6c0mKZsfxVrogUvA4HELjVKWmAvtl6UnCh8jYzuVG5WSb/QEVPnP5TmcAnLH1g+s++v6d4s8m0gCw1fV5/SITLq9mhho8K3+7EPYTU8IU1bLhdxO5Nyt8C8ssinQ98Xw9Q==:",
            []
        ),
        (
            #"sig-b22=("@authority" "content-digest" "@query-param";name="Pet");created=1618884473;keyid="test-key-rsa-pss";tag="header-example""#,
            "sig-b22=:LjbtqUbfmvjj5C5kr1Ugj4PmLYvx9wVjZvD9GsTT4F7GrcQEdJzgI9qHxICagShLRiLMlAJjtq6N4CDfKtjvuJyE5qH7KT8UCMkSowOB4+ECxCmT8rtAmj/0PIXxi0A0nxKyB09RNrCQibbUjsLS/2YyFYXEu4TRJQzRw1rLEuEfY17SARYhpTlaqwZVtR8NV7+4UKkjqpcAoFqWFQh62s7Cl+H2fjBSpqfZUJcsIk4N6wiKYd4je2U/lankenQ99PZfB4jY3I5rSV2DSBVkSFsURIjYErOs0tFTQosMTAoxk//0RoKUqiYY8Bh0aaUEb0rQl3/XaVe4bXTugEjHSw==:",
            [
                #""@authority": example.com"#, "\"content-digest\": \(digest)",
                #""@query-param";name="Pet": dog"#,
            ]
        ),
        (
            #"sig-b23=("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-rsa-pss""#,
            "sig-b23=:bbN8oArOxYoyylQQUU6QYwrTuaxLwjAC9fbY2F6SVWvh0yBiMIRGOnMYwZ/5MR6fb0Kh1rIRASVxFkeGt683+qRpRRU5p2voTp768ZrCUb38K0fUxN0O0iC59DzYx8DFll5GmydPxSmme9v6ULbMFkl+V5B1TP/yPViV7KsLNmvKiLJH1pFkh/aYA2HXXZzNBXmIkoQoLd7YfW91kE9o/CCoC1xMy7JA1ipwvKvfrs65ldmlu9bpG6A9BmzhuzF8Eim5f8ui9eH8LZH896+QIF61ka39VBrohr9iyMUJpvRX2Zbhl5ZJzSRxpJyoEZAFL2FUo5fTIztsDZKEgM4cUA==:",
            [
                #""date": Tue, 20 Apr 2021 02:07:55 GMT"#, #""@method": POST"#, #""@path": /foo"#,
                #""@query": ?param=Value&Pet=dog"#, #""@authority": example.com"#,
                #""content-type": application/json"#, "\"content-digest\": \(digest)",
                #""content-length": 18"#,
            ]
        ),
        (
            #"sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret""#,
            "sig-b25=:pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:",
            [
                #""date": Tue, 20 Apr 2021 02:07:55 GMT"#, #""@authority": example.com"#,
                #""content-type": application/json"#,
            ]
        ),
        (
            #"sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519""#,
            "sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:",
            [
                #""date": Tue, 20 Apr 2021 02:07:55 GMT"#, #""@method": POST"#, #""@path": /foo"#,
                #""@authority": example.com"#, #""content-type": application/json"#,
                #""content-length": 18"#,
            ]
        ),
    ]

    /// The requests of Appendix B.2 are valid, and changes of them are not.
    @Test(arguments: requests.indices)
    func appendixB(_ index: Int) throws {
        let (inputText, signature, lines) = Self.requests[index]
        let message = Self.message([.signatureInput: inputText, .signature: signature])
        let member = try #require(MessageSignatureInput.all(in: inputText)?.first)
        let input = try #require(member.input)
        let base = String(decoding: try input.base(of: message, [:]), as: UTF8.self)
        let text = inputText.drop { $0 != "(" }
        #expect(base == (lines + ["\"@signature-params\": \(text)"]).joined(separator: "\n"))
        let verified = try Self.verifier.verify(message)
        #expect(verified.label == member.label && verified.parameters.created == Self.created)
        for name in ["date", "content-type", "content-digest", "content-length"]
        where base.contains("\"\(name)\"") {
            var changed = message
            changed.headerFields[try #require(HTTPField.Name(name))] = "other"
            #expect(throws: MessageSignatureError.self) { try Self.verifier.verify(changed) }
        }
        var changed = message
        changed.headerFields[.signatureInput] = inputText.replacing("1618884473", with: "1618884474")
        #expect(throws: MessageSignatureError.self) { try Self.verifier.verify(changed) }
    }

    /// B.2.4.
    /// The response of Appendix B.2.4 is valid.
    @Test func response() throws {
        let head = ResponseHead(
            status: .ok,
            headerFields: [
                .date: "Tue, 20 Apr 2021 02:07:56 GMT", .contentType: "application/json",
                .contentDigest:
                    "sha-512=:mEWXIS7MaLRuGgxOBdODa3xqM1XdEvxoYhvlCFJ41QJgJc4GTsPp29l5oGX69wWdXymyU0rjJuahq4l5aGgfLQ==:",
                .contentLength: "23",
                .signatureInput:
                    #"sig-b24=("@status" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-ecc-p256""#,
                .signature:
                    "sig-b24=:wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NKocgPquLgyahnzDnDAUy5eCdlYUEkLIj+32oiasw==:",
            ])
        var message = SignableMessage(head)
        message.content = Array(#"{"message": "good dog"}"#.utf8)
        #expect(try Self.verifier.verify(message).label == "sig-b24")
        message.content = Array(#"{"message": "bad dog!"}"#.utf8)
        #expect(throws: MessageSignatureError.self) { try Self.verifier.verify(message) }
    }

    /// Deterministic algorithms make the signatures of Appendix B.2.
    @Test func deterministic() throws {
        let hmac = try MessageSigningKey.hmacSHA256(Array(#require(Data(base64Encoded: Self.secret))))
        let cases: [(MessageSigningKey, String, [SignatureComponent], Int)] = [
            (hmac, "test-shared-secret", ["date", "@authority", "content-type"], 3),
            (
                try .pem(Self.ed25519), "test-key-ed25519",
                ["date", "@method", "@path", "@authority", "content-type", "content-length"], 4
            ),
        ]
        for (key, keyID, components, index) in cases {
            let (input, signature, _) = Self.requests[index]
            let label = String(input.prefix { $0 != "=" })
            let signer = MessageSigner([
                MessageSigner.Recipe(label: label, components: components, key: key, keyID: keyID)
            ])
            let made = try signer.signatures(of: Self.message(), at: Self.created)
            #expect(made.input == input && made.signature == signature)
        }
    }

    /// Each kind of key verifies its own signatures and no others.
    @Test func keys() throws {
        let secret = Array(try #require(Data(base64Encoded: Self.secret)))
        let pairs: [(MessageSigningKey, MessageVerifyingKey)] = [
            (try .pem(Self.ed25519), try .pem(Self.ed25519Public)),
            (try .pem(Self.p256), try .pem(Self.p256Public)),
            (try .hmacSHA256(secret), try .hmacSHA256(secret)),
        ]
        let text = Array("text".utf8)
        for (index, (signing, _)) in pairs.enumerated() {
            let signature = try signing.signature(of: text)
            for (other, (_, verifying)) in pairs.enumerated() {
                #expect(verifying.verifies(signature, of: text) == (index == other))
                #expect(!verifying.verifies(signature + [0], of: text) && !verifying.verifies([], of: text))
            }
            #expect(signing.algorithm == signing.verifyingKey.algorithm)
        }
        #expect(try MessageVerifyingKey.pem(Self.p384).algorithm == .ecdsaP384SHA384)
        for text in ["", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", Self.ed25519Public] {
            #expect(throws: NetworkError.self) { try MessageSigningKey.pem(text) }
        }
        #expect(throws: NetworkError.self) { try MessageSigningKey.hmacSHA256([1, 2, 3]) }
        #expect(throws: NetworkError.self) { try MessageSigningKey.ed25519([1]) }
    }

    // MARK: - Components

    /// The examples of RFC 9421 §2.1 and §2.2.
    static let values: [(String, SignatureComponent, String?)] = [
        ("", "x-ows-header", "Leading and trailing whitespace."),
        ("", "cache-control", "max-age=60, must-revalidate"), ("", "x-empty-header", ""),
        ("", "x-absent", nil),
        ("", SignatureComponent("example-dict").structured, "a=1, b=2;x=1;y=2, c=(a b c), d"),
        ("", SignatureComponent("example-dict").member("a"), "1"),
        ("", SignatureComponent("example-dict").member("b"), "2;x=1;y=2"),
        ("", SignatureComponent("example-dict").member("c"), "(a b c)"),
        ("", SignatureComponent("example-dict").member("d"), "?1"),
        ("", SignatureComponent("example-dict").member("e"), nil),
        ("", SignatureComponent("x-ows-header").structured, nil),
        (
            "", SignatureComponent("example-header").bytes,
            ":dmFsdWUsIHdpdGgsIGxvdHM=:, :b2YsIGNvbW1hcw==:"
        ),
        ("", .method, "POST"), ("", .targetURI, "https://www.example.com/path?param=value"),
        ("", .authority, "www.example.com"), ("", .scheme, "https"),
        ("", .requestTarget, "/path?param=value"),
        ("", .path, "/path"), ("", .query, "?param=value"), ("", .status, nil),
        ("https://WWW.Example.com:443", .authority, "www.example.com"),
        ("https://a.test:8080", .authority, "a.test:8080"), ("https://a.test", .path, "/"),
        ("https://a.test", .query, "?"), ("https://a.test?", .query, "?"),
        ("https://u:p@a.test/x#y", .targetURI, "https://a.test/x"),
        (
            "https://a.test/parameters?var=this%20is%20a%20big%0Amultiline%20value&bar=with+plus+whitespace&fa%C3%A7ade%22%3A%20=something",
            .query("var"), "this%20is%20a%20big%0Amultiline%20value"
        ),
        ("https://a.test/?bar=with+plus+whitespace", .query("bar"), "with%20plus%20whitespace"),
        ("https://a.test/?fa%C3%A7ade%22%3A%20=something", .query("façade\": "), "something"),
        ("https://a.test/?a=1&a=2", .query("a"), nil), ("https://a.test/?qparam", .query("qparam"), ""),
        ("https://a.test/?a=~*", .query("a"), "%7E*"), ("https://a.test/?b=1", .query("a"), nil),
        ("", SignatureComponent.method.ofRequest, nil), ("", SignatureComponent("x-t").ofTrailer, "end"),
    ]

    /// Components have the values of RFC 9421.
    @Test(arguments: values.indices)
    func componentValues(_ index: Int) {
        let (url, component, value) = Self.values[index]
        var fields: HTTPFields = [:]
        for (name, value) in [
            ("X-OWS-Header", "   Leading and trailing whitespace.   "),
            ("Cache-Control", "max-age=60"),
            ("Cache-Control", "   must-revalidate"), ("X-Empty-Header", ""),
            ("Example-Dict", "  a=1,    b=2;x=1;y=2,   c=(a   b   c), d=?1"),
            ("Example-Header", "value, with, lots"), ("Example-Header", "of, commas"),
        ] {
            fields.append(HTTPField(name: HTTPField.Name(name)!, value: value))
        }
        var message = SignableMessage(
            .post, url.isEmpty ? "https://www.example.com/path?param=value" : url, headerFields: fields)
        message.trailers[HTTPField.Name("X-T")!] = "end"
        #expect(message.value(of: component, [HTTPField.Name("example-dict")!: .dictionary]) == value)
    }

    /// RFC 9421 §2.4.
    /// A response covers components of its request.
    @Test func requestComponents() throws {
        let request = Request(
            method: .post, url: try #require(URL(string: Self.url)),
            headerFields: [.contentType: "application/json", .signature: "sig1=:AAAA:"])
        let head = ResponseHead(status: .serviceUnavailable, headerFields: [.contentType: "text/plain"])
        let message = SignableMessage(head, to: request)
        let values: [(SignatureComponent, String?)] = [
            (.status, "503"), (.method.ofRequest, "POST"), (.authority.ofRequest, "example.com"),
            (SignatureComponent("content-type").ofRequest, "application/json"),
            ("content-type", "text/plain"),
            (SignatureComponent("signature").ofRequest.member("sig1"), ":AAAA:"), (.method, nil),
            (.status.ofRequest, nil),
        ]
        for (component, value) in values { #expect(message.value(of: component, [:]) == value) }
        #expect(SignableMessage(head).value(of: .method.ofRequest, [:]) == nil)
    }

    /// Identifiers are written with their parameters, and equal in any order.
    @Test func identifiers() throws {
        #expect("\(SignatureComponent("Example").ofRequest.member("a"))" == #""example";req;key="a""#)
        #expect("\(SignatureComponent.query("a b"))" == #""@query-param";name="a%20b""#)
        #expect(
            SignatureComponent("x").ofRequest.member("a") == SignatureComponent("x").member("a").ofRequest)
        for text in [
            #"sig=("X")"#, #"sig=("x";foo)"#, #"sig=("x";req=?0)"#, #"sig=("x" "x")"#, #"sig=(x)"#,
            #"sig=("x";sf;req "x";req;sf)"#, #"sig=("x");created="1""#, #"sig=("x");keyid=7"#, "sig=1",
            #"sig=("")"#,
        ] {
            let member = try #require(MessageSignatureInput.all(in: text)?.first)
            #expect(member.input == nil, "\(text)")
        }
    }
}
#endif
