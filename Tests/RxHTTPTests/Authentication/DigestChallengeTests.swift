import RxTesting
import Testing

@testable import RxHTTP

/// Parsing of challenges (RFC 9110 §11.6.1), and the proof for them (RFC 7616 §3.4).
@Suite struct DigestChallengeTests {
    private static let realm = #"realm="http-auth@example.org""#
    private static let rest =
        #"qop="auth, auth-int", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", "#
        + #"opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#

    /// The example of RFC 7616 §3.9.1.
    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ])
    func example(algorithm: String, response: String) throws {
        let field = "Digest \(Self.realm), algorithm=\(algorithm), \(Self.rest)"
        let challenge = try #require(DigestChallenge.first(in: field))
        var session = DigestSession(
            challenge, user: "Mufasa", password: "Circle of Life",
            clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
        let field1 = session.authorization(method: "GET", target: "/dir/index.html")
        #expect(field1.contains("response=\"\(response)\""))
        #expect(field1.contains(#"username="Mufasa", realm="http-auth@example.org""#))
        #expect(field1.contains("algorithm=\(algorithm), opaque="))
        #expect(field1.contains("qop=auth, nc=00000001, cnonce="))
        let field2 = session.authorization(method: "GET", target: "/dir/index.html")
        #expect(field2.contains("nc=00000002") && !field2.contains(response))
        session.renew("n")
        let field3 = session.authorization(method: "GET", target: "/")
        #expect(field3.contains("nc=00000001") && field3.contains("nonce=\"n\""))
    }

    /// The expected digests were made with Python.
    /// A user name that is hashed, or not ASCII (RFC 7616 §3.9.2).
    @Test func names() throws {
        let hidden =
            #"Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, "#
            + #"nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", userhash=true"#
        var session = DigestSession(
            try #require(DigestChallenge.first(in: hidden)), user: "Jäsøn Doe", password: "Secret, or not?",
            clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm")
        let field = session.authorization(method: "GET", target: "/doe.json")
        #expect(
            field.contains(
                "username=\"793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b\""))
        #expect(
            field.contains(
                "response=\"7a4e1192babbba02e91182d2895bfdbf7adafc6e48d4e517ca301974843d840c\""))
        #expect(field.hasSuffix(", userhash=true"))
        let open = "Digest \(Self.realm), \(Self.rest)"
        var plain = DigestSession(
            try #require(DigestChallenge.first(in: open)), user: "J\u{E4}s n\"", password: "",
            clientNonce: "c")
        #expect(plain.authorization(method: "GET", target: "/").contains("username*=UTF-8''J%C3%A4s%20n%22,"))
    }

    /// Without qop the request is not counted (RFC 2069); quotes and backslashes are escaped again.
    @Test func old() throws {
        let challenge = try #require(DigestChallenge.first(in: #"Digest realm="a\"b\\", nonce=n"#))
        #expect(challenge.realm == #"a"b\"#)
        var session = DigestSession(challenge, user: "u", password: "p", clientNonce: "c")
        let field = session.authorization(method: "GET", target: "/")
        #expect(field.contains(#"realm="a\"b\\""#))
        #expect(!field.contains("nc=") && !field.contains("qop") && !field.contains("algorithm"))
    }

    /// A session's password digest is computed once (-sess), also for later nonces.
    @Test func session() throws {
        let challenge = try #require(
            DigestChallenge.first(in: #"Digest realm="r", nonce="n", algorithm=md5-sess, qop=auth"#))
        var session = DigestSession(challenge, user: "u", password: "p", clientNonce: "c")
        let secret = HexDigest.md5("\(HexDigest.md5("u:r:p".utf8)):n:c".utf8)
        let request = HexDigest.md5("GET:/".utf8)
        for nonce in ["n", "m"] {
            if nonce == "m" { session.renew(nonce) }
            let response = HexDigest.md5("\(secret):\(nonce):00000001:c:auth:\(request)".utf8)
            #expect(session.authorization(method: "GET", target: "/").contains("response=\"\(response)\""))
        }
    }

    /// The first usable challenge is met, at any position.
    @Test(
        arguments: [
            (#"Basic realm="x, Digest realm=y", Digest realm="r", nonce="n""#, "r"),
            (#"Negotiate, NTLM TlRM==, Digest realm="r", nonce="n", Bearer"#, "r"),
            (
                #"Digest realm="a", nonce="n", algorithm=XYZ, Digest realm="b", nonce="n", algorithm=SHA-256"#,
                "b"
            ),
            (#"digest REALM = "r" , Nonce="n", realm="other""#, "r"),
            (#"Digest realm="r""#, nil), (#"Digest nonce="n""#, nil), ("Digest", nil), ("", nil),
            (#"Digest realm="r", nonce="n", qop="auth-int""#, nil),
            (#"Digest realm="r", nonce="n", algorithm=MD5-sess"#, nil),
            (#"Basic realm="r", nonce="n""#, nil), (#"Digest realm="r, nonce=n"#, nil),
        ] as [(String, String?)])
    func choice(field: String, realm: String?) {
        #expect(DigestChallenge.first(in: field)?.realm == realm)
    }

    /// A parameter over 4 KiB is not sent back.
    @Test func large() {
        let nonce = String(repeating: "n", count: 4097)
        #expect(DigestChallenge.first(in: "Digest realm=r, nonce=\(nonce)") == nil)
        #expect(DigestChallenge.nextNonce(in: "nextnonce=\"\(nonce)\"") == nil)
        #expect(DigestChallenge.nextNonce(in: "rspauth=\"a\", nextnonce=\"b\", qop=auth") == "b")
        #expect(DigestChallenge.nextNonce(in: "qop=auth") == nil)
    }

    /// Mutated challenges never trap, and are parsed in one pass.
    @Test(arguments: 1...4)
    func mutations(seed: UInt64) {
        var random = SeededRandom(seed)
        let fields = [
            #"Basic realm="a", Digest realm="b\"", nonce=n, qop="auth""#,
            "NTLM TlRM==, Digest realm=r,nonce=x",
        ].map { Array($0.utf8) }
        for _ in 0..<2000 {
            let bytes = (fields.randomElement(using: &random) ?? []).mutated(by: &random)
            let text = String(decoding: bytes, as: UTF8.self)
            let challenges = ChallengeReader.challenges(in: text)
            let size = challenges.flatMap(\.parameters).reduce(0) { $0 + $1.value.utf8.count }
            #expect(size <= text.utf8.count)
            _ = DigestChallenge.first(in: text)
        }
    }
}
