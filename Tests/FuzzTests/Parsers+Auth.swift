#if Auth
import FoundationEssentials
import HTTPTypes
import RxHTTP

@testable import RxAuth

extension Parser {
    static let signing: [Parser] = [
        Parser(
            "Signature-Input",
            text: [
                #"sig1=("@method" "@authority" "@query-param";name="Pet" "content-digest");created=1618884473;keyid="k";alg="ed25519";nonce="n";tag="t";expires=1"#,
                #"a=();created=1, b=("x";sf "y";key="a" "z";bs "w";req "v";tr)"#, "a=(", "a=1", "", "=",
            ]
        ) { text in
            let message = SignableMessage(
                .get, "https://a.test/?Pet=dog",
                headerFields: [.signatureInput: text, .signature: "sig1=:AAAA:"])
            for (_, input) in MessageSignatureInput.all(in: text) ?? [] {
                guard let input else { continue }
                let again = MessageSignatureInput.all(in: "a=\(input.text)")?.first?.input
                try demand(again?.text == input.text, "\(input.text) is read as \(again?.text ?? "nothing")")
                try demand(Set(input.components).count == input.components.count, "a component twice")
            }
            let key = try MessageVerifyingKey.hmacSHA256([UInt8](repeating: 1, count: 16))
            do throws(MessageSignatureError) {
                try MessageVerifier(.init(requiring: [])) { _ in key }
                    .verify(message, at: Date(timeIntervalSince1970: 0))
                throw MessageSignatureError(.init(rawValue: "valid"), "")
            } catch {
                try demand(error.code.rawValue != "valid", "a signature without its key is valid")
                return error.code.rawValue
            }
        },
        Parser(
            "Signature",
            text: [
                "sig1=:AAAA:", "sig1=:AAAA:, sig2=:AA==:", "sig1=:AA", "sig1=1", "sig1=(:AAAA:)", "sig1", "=",
                "",
                "sig1=:AAAA:;a=1, sig1=:BBBB:", "sig1=:####:",
            ]
        ) { text in
            let message = SignableMessage(
                .get, "https://a.test/",
                headerFields: [.signatureInput: #"sig1=("@method");created=0"#, .signature: text])
            let key = try MessageVerifyingKey.hmacSHA256([UInt8](repeating: 1, count: 16))
            do throws(MessageSignatureError) {
                try MessageVerifier(.init(requiring: [])) { _ in key }
                    .verify(message, at: Date(timeIntervalSince1970: 0))
            } catch { return error.code.rawValue }
            throw Violation(description: "a signature without its key is valid")
        },
        Parser(
            "structured components",
            text: [
                #"a;q=1, "b" , :AAAA:;x, (c d);e=?0, 1.50, @1700000000, %"ä""#, "a=1, b;c, d=(1 2);e",
                "a, , b",
                "?1", "1.", "1.0000", "(a", "\"", "a;b=c;b=d", "", "  a  ", #"%"%c3%a4""#,
            ]
        ) { text in
            let names = ["x-list", "x-item", "x-dictionary"]
            let kinds: [HTTPField.Name: StructuredFieldKind] = [
                HTTPField.Name("x-list")!: .list, HTTPField.Name("x-item")!: .item,
                HTTPField.Name("x-dictionary")!: .dictionary,
            ]
            func values(of texts: [String]) -> [String?] {
                var fields: HTTPFields = [:]
                for (name, text) in zip(names, texts) { fields[HTTPField.Name(name)!] = text }
                let message = SignableMessage(.get, "https://a.test/", headerFields: fields)
                return names.map { name in
                    message.value(of: SignatureComponent.field(HTTPField.Name(name)!).structured, kinds)
                }
            }
            let found = values(of: [text, text, text])
            // The one serialization is that of itself.
            let again = values(of: found.map { $0 ?? "" })
            for (first, second) in zip(found, again) {
                guard let first, !first.isEmpty else { continue }
                try demand(first == second, "\(first) becomes \(second ?? "nothing")")
                try demand(
                    first.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "a value that no field carries")
            }
            return found.map { $0 ?? "-" }.joined(separator: " | ")
        },
        Parser(
            "components of a message",
            text: [
                "https://a.test:443/a%20b?x=1&y=+2#f", "http://u:p@[::1]:80", "https://a?&=&x", "https:///",
                "a",
                "https://a.test/?x=%zz%2&x",
            ]
        ) { text in
            let message = SignableMessage(
                .get, text, headerFields: [.contentType: text, .cacheControl: text])
            let components: [SignatureComponent] = [
                .method, .targetURI, .authority, .scheme, .requestTarget, .path, .query, .query("x"),
                "content-type",
                SignatureComponent("cache-control").bytes, SignatureComponent("cache-control").member("x"),
            ]
            let values = components.map { message.value(of: $0, [:]) }
            try demand(values[5].map { !$0.isEmpty } ?? true, "an empty path")
            return values.map { $0 ?? "-" }.joined(separator: " ")
        },
        Parser(
            "Content-Digest",
            text: ["sha-256=:AAAA:, sha-512=:AAAA:", "sha-256=1", "md5=:AA==:", "sha-256=:A"]
        ) {
            text in
            guard let digest = ContentDigest(field: text) else { return "none" }
            try demand(ContentDigest(field: digest.fieldValue) == digest, "\(digest)")
            try demand(!digest.matches(Array("hello".utf8)), "\(digest) is that of hello")
            return digest.fieldValue
        },
        Parser(
            "webhook signatures",
            text: [
                "v1,g0hM9SsE+OTPJTGt v1a,x", "t=1700000000,v1=00ff,v0=1", "sha256=00ff", "v1,", "t=,v1=",
                "sha256=0",
            ]
        ) { text in
            var fields: HTTPFields = [:]
            for (name, value) in [
                ("webhook-id", "1"), ("webhook-timestamp", "1700000000"), ("webhook-signature", text),
                ("stripe-signature", text), ("x-hub-signature-256", text),
            ] {
                fields[HTTPField.Name(name)!] = value
            }
            let verifiers = [
                try WebhookVerifier.standard(secret: "AAAA"), try .stripe(secret: "a"),
                try .github(secret: "a"),
            ]
            return try verifiers.map { verifier throws(Violation) in
                do throws(WebhookError) {
                    try verifier.verify(
                        [1], headerFields: fields, at: Date(timeIntervalSince1970: 1_700_000_000))
                } catch { return error.rawValue }
                throw Violation(description: "a signature without the secret is valid")
            }
            .joined(separator: " ")
        },
        Parser(
            "AWS canonical request",
            text: ["/a//b/../c%2f%zz", "/?b=2&a=%C3%A4&a", "/%", "?", "//", "/../..?=&&=", "/a b?c+d=é"]
        ) { text in
            let sides = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            let fields = AWSSignedFields([.contentType: text], host: "a.test")
            let texts = [AWSCanonicalRequest.PathRule.s3, .standard].map { rule in
                AWSCanonicalRequest(
                    method: "GET", path: sides[0].utf8, rule, query: (sides.count > 1 ? sides[1] : "").utf8,
                    fields,
                    payload: "UNSIGNED-PAYLOAD"
                ).bytes
            }
            for bytes in texts {
                let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
                try demand(lines.count == 8, "\(lines.count) lines")
                try demand(
                    lines[1].first == UInt8(ascii: "/") || sides[0].first != "/", "a path without a slash")
                try demand(lines[1].allSatisfy { (0x21...0x7E).contains($0) }, "a path that is not escaped")
                try demand(lines[2].allSatisfy { (0x21...0x7E).contains($0) }, "a query that is not escaped")
            }
            return String(decoding: texts.joined(), as: UTF8.self)
        },
        Parser(
            "AWS targets",
            text: [
                "https://a.test/b%20c?d=e#f", "https://a.test:443", "http://[::1]:80/?",
                "https://A.TEST:8443//x",
                "https://u:p@a.test/", "https:///x", "a", "https://a.test?b#c?d", "https://a.test/#?b",
            ]
        ) { text in
            guard let url = URL(string: text) else { return "no URL" }
            let target: AWSTarget
            do throws(NetworkError) {
                target = try AWSTarget(of: Request(url: url))
            } catch { return error.code.rawValue }
            try demand(!target.host.isEmpty && !target.host.contains("@"), "the host \(target.host)")
            try demand(!target.host.contains(where: { "/?#".contains($0) }), "the host \(target.host)")
            try demand(!target.path.contains("?") && !target.path.contains("#"), "the path \(target.path)")
            try demand(!target.query.contains("#"), "the query \(target.query)")
            return "\(target.host) \(target.path) \(target.query)"
        },
        Parser(
            "AWS profiles",
            [
                "[default]\naws_access_key_id = a\naws_secret_access_key=b # c\n[profile x]\nrole_arn=r\nsource_profile=x",
                "[", "[]", "a=b", "[profile ]\n=x\n x=y",
                "[profile a]\nrole_arn=r\nsource_profile=b\n[profile b]\nrole_arn=r\nsource_profile=a",
            ]
        ) { bytes in
            var profiles = AWSProfiles()
            profiles.add(bytes, isConfig: true)
            return profiles.profiles.keys.sorted().map { name in
                do throws(NetworkError) {
                    return "\(try profiles.source(of: name, [:]))"
                } catch { return error.code.rawValue }
            }
            .joined(separator: " ")
        },
        Parser(
            "AWS documents",
            [
                "<a><Code>AccessDenied</Code><b/><AccessKeyId>&lt;x&gt;&amp;</AccessKeyId></a>", "<", "<a",
                "</a>",
                "<?xml?><!-- x --><a b=\"c\">d</a>",
            ]
        ) { bytes in
            let document = AWSDocument(bytes)
            let text = document.text(of: "AccessKeyId")
            try demand(text.map { !$0.isEmpty } ?? true, "an empty text")
            return text ?? "none"
        },
        Parser(
            "AWS metadata",
            [
                #"{"Code":"Success","AccessKeyId":"K","SecretAccessKey":"s","Token":"t","Expiration":"2023-11-14T23:13:20Z"}"#,
                "{}", "[", #"{"AccessKeyId":1}"#,
            ]
        ) { bytes in
            do throws(NetworkError) {
                let credential = try AWSCredential(metadata: bytes, from: "a")
                return credential.accessKeyID
            } catch { return error.code.rawValue }
        },
        Parser(
            "AWS timestamps",
            text: ["2023-11-14T23:13:20Z", "2023-11-14T23:13:20.123+02:00", "", "2023-02-30T"]
        ) { text in
            Date(awsTimestamp: text).map { "\($0.timeIntervalSince1970)" } ?? "none"
        },
        Parser(
            "PEM keys",
            text: [
                "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF\n-----END PRIVATE KEY-----",
                "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=\n-----END PUBLIC KEY-----",
                "-----BEGIN", "",
            ]
        ) { text in
            do throws(NetworkError) {
                return try MessageSigningKey.pem(text).algorithm.rawValue
            } catch {
                try demand(error.code == .invalidConfiguration, "\(error)")
            }
            do throws(NetworkError) {
                return try MessageVerifyingKey.pem(text).algorithm.rawValue
            } catch { return error.code.rawValue }
        },
    ]
}
#endif

extension Parser {
    /// The parsers of RxAuth; none without its trait.
    static var auth: [Parser] {
        #if Auth
        signing + oauth
        #else
        []
        #endif
    }
}
