import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxTesting
import Testing

/// Hidden values, and values that stay visible.
@Suite struct RedactionTests {
    private let redaction = Redaction(
        fields: [HTTPField.Name("X-Key")!], parameters: ["pin", "Größe", "a b"])

    @Test(
        arguments: [
            ("https://a.test/x?q=1", "https://a.test/x?q=1"),
            ("https://a.test/x?pin=1", "https://a.test/x?pin=…"),
            ("https://a.test/x?a=b&pin=1&c=d", "https://a.test/x?a=b&pin=…&c=d"),
            ("https://a.test/x?PIN=1&pin=2", "https://a.test/x?PIN=…&pin=…"),
            ("https://a.test/x?user[pin]=1&pin[]=2&spin=3", "https://a.test/x?user[pin]=…&pin[]=…&spin=3"),
            ("https://a.test/x?user%5Bpin%5D=1", "https://a.test/x?user%5Bpin%5D=…"),
            ("https://a.test/x?%70in=1&a%20b=2&a+b=3", "https://a.test/x?%70in=…&a%20b=…&a+b=…"),
            ("https://a.test/x?gr%C3%B6%C3%9Fe=9", "https://a.test/x?gr%C3%B6%C3%9Fe=…"),
            ("https://a.test/x?pin=a=b=c", "https://a.test/x?pin=…"),
            ("https://a.test/x?pin", "https://a.test/x?pin"),
            ("https://a.test/x?pin=", "https://a.test/x?pin=…"),
            ("https://a.test/#pin=1", "https://a.test/#pin=…"),
            ("https://a.test/#?pin=1", "https://a.test/#?pin=…"),
            ("https://u:p@a.test/x", "https://…@a.test/x"),
            ("https://u@a.test:80/@x", "https://…@a.test:80/@x"),
            ("https://u:p@q@a.test", "https://…@a.test"), ("https://u:p#q@a.test/x", "https://…@a.test/x"),
            ("https://u:p?q@a.test", "https://…@a.test"), ("http://[::1]?q=a@b", "http://[::1]?q=a@b"),
            ("https://a.test:80?q=a@b", "https://a.test:80?q=a@b"),
            ("https://u:#s7@a.test/", "https://…@a.test/"), ("https://u:?s7@a.test/x", "https://…@a.test/x"),
            ("https://u&:p&pin=1@a.test?&pin=1", "https://…@a.test?&pin=…"),
            ("https://a.test/x@y", "https://a.test/x@y"), ("//u:p@a.test", "//…@a.test"),
            ("/x?pin=1", "/x?pin=…"),
            ("https://a.test/%zz?%=1&%7=2&pin=3", "https://a.test/%zz?%=1&%7=2&pin=…"), ("", ""), ("?", "?"),
            ("?pin=é🍵&b=é", "?pin=…&b=é"),
            (
                "<https://a.test/?pin=1>; rel=\"next\", <?pin=2&b>",
                "<https://a.test/?pin=…>; rel=\"next\", <?pin=…&b>"
            ),
        ])
    func urls(text: String, shown: String) {
        #expect(redaction.shown(url: text) == shown)
    }

    /// A URL without its query shows no more than the whole one.
    @Test(
        arguments: [
            ("https://a.test/x?pin=1", "https://a.test/x"), ("https://a.test/x#pin=1", "https://a.test/x"),
            ("https://a.test/x&pin=1?q=2", "https://a.test/x&pin=…"),
            ("https://a.test/x&q=1&pin=2/y", "https://a.test/x&q=1&pin=…"),
            ("https://u:p@a.test/x&q=1?q=2", "https://…@a.test/x&q=1"),
            ("https://a.test/\(head).eyJzd.x?q=1", "https://a.test/…"),
        ])
    func urlsWithoutQuery(text: String, shown: String) throws {
        #expect(Request(url: try #require(URL(string: text))).shownURLWithoutQuery == shown)
    }

    @Test(
        arguments: [
            ("pin=1", "pin=…"), ("a=b&pin=1&&pin", "a=b&pin=…&&pin"),
            ("a+b=1&user[pin]=2", "a+b=…&user[pin]=…"),
            ("x=?pin=1", "x=?pin=…"), ("x=%3Fpin%3D1%26y=2", "x=%3Fpin%3D…%26y=2"), ("", ""),
            ("code=Spl/xlOB&access=a&refresh=b&a=c", "code=…&access=…&refresh=…&a=c"),
            ("code=DE&code=200&refresh=true&access=30", "code=DE&code=200&refresh=true&access=30"),
            (
                "payload=%7B%22pin%22%3A%221%22%2C%22a%22%3A%22b+c%22%7D&d=e+f",
                "payload=%7B%22pin%22%3A%22…%22%2C%22a%22%3A%22b+c%22%7D&d=e+f"
            ),
            (
                "a=%7B%22b%22%3A%22%7B%5C%22pin%5C%22%3A%5C%221%5C%22%7D%22%7D",
                "a=%7B%22b%22%3A%22%7B%5C%22pin%5C%22%3A%5C%22…%5C%22%7D%22%7D"
            ), ("a=%zz%", "a=%zz%"),
        ])
    func forms(text: String, shown: String) {
        let type = "Application/X-WWW-form-urlencoded; charset=utf-8"
        #expect(redaction.shown(Array(text.utf8), type: type) == Array(shown.utf8))
    }

    @Test(
        arguments: [
            (#"{"pin":"1"}"#, #"{"pin":"…"}"#), (#"{ "pin" : 12 , "a":1}"#, #"{ "pin" : "…" , "a":1}"#),
            (#"{"pin":{"a":[1,"}"]},"b":2}"#, #"{"pin":"…","b":2}"#),
            (#"[{"a":{"PIN":null}},{"pin":[true]}]"#, #"[{"a":{"PIN":null}},{"pin":"…"}]"#),
            (#"{"a":"pin","b":"\"pin\":1"}"#, #"{"a":"pin","b":"\"pin\":\"…\""}"#),
            (
                #"{"a":"{\"pin\":\"1\",\u0022é\/\\\"c","d":1}"#,
                #"{"a":"{\"pin\":\"…\",\u0022é\/\\\"c","d":1}"#
            ),
            (
                #"{"a":"{\"b\":\"{\\\"pin\\\":\\\"1\\\"}\"}"}"#,
                #"{"a":"{\"b\":\"{\\\"pin\\\":\\\"…\\\"}\"}"}"#
            ),
            (
                #"{"u":"https:\/\/u:p@a.test\/?pin=1\u0026b=2"}"#,
                #"{"u":"https:\/\/…@a.test\/?pin=…\u0026b=2"}"#
            ),
            (#"{"\u0070in":"1"}"#, #"{"\u0070in":"…"}"#), (#"{"pin":"a\"b","c":1}"#, #"{"pin":"…","c":1}"#),
            (#"{"pin":-1.5e3}"#, #"{"pin":"…"}"#), (#"{"gRÖßE":1}"#, #"{"gRÖßE":"…"}"#),
            (#"{"pin":"cut of"#, #"{"pin":"…""#), (#"{"pin":{"cut":[1"#, #"{"pin":"…""#),
            (#"{"pin"#, #"{"pin"#),
            (#"{"pin":"#, #"{"pin":"#), (#"{"pin" 1}"#, #"{"pin" 1}"#), ("", ""), ("\"", "\""),
            (#"{"pin":}"#, #"{"pin":}"#), (#"{"pin":bad,"a":1}"#, #"{"pin":"…","a":1}"#),
            ("{\"pin\":1}\n{\"pin\":2}", "{\"pin\":\"…\"}\n{\"pin\":\"…\"}"),
        ])
    func documents(text: String, shown: String) {
        for type in ["application/json", "application/problem+json;charset=utf-8", "text/json"] {
            #expect(String(decoding: redaction.shown(Array(text.utf8), type: type), as: UTF8.self) == shown)
        }
    }

    /// Texts are searched whatever their type is; binary content is not.
    @Test func contentOfOtherTypes() {
        let (content, shown) = (
            Array(#"pin=1 {"pin":1} ?pin=1"#.utf8), Array(#"pin=1 {"pin":"…"} ?pin=…"#.utf8)
        )
        for type in [nil, "", "text/plain", "application/octet-stream", "multipart/mixed", "text/html"] {
            #expect(redaction.shown(content, type: type) == shown, "\(type ?? "none")")
        }
        let cut = content + [0x20, 0xF0, 0x9F]
        #expect(redaction.shown(cut, type: "a/b") == shown + [0x20, 0xF0, 0x9F])
        let binary = [0xFF, 0xD8] + content
        #expect(redaction.shown(binary, type: "image/jpeg") == binary)
    }

    private static let head = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"

    /// A JSON Web Token is hidden wherever it stands.
    @Test(arguments: [
        ("\(head).eyJzdWIiOiIxIn0.c2ln", "…"), ("a \(head).b.c, d", "a …, d"),
        ("Bearer \(head).b.c.", "Bearer …."), ("\(head)..iv.text.tag", "…"), ("\(head).b.", "…"),
        ("v1_\(head).b.c", "v1_…"), ("/verify/\(head).b.c/now", "/verify/…/now"),
        // Neither three parts nor, within a word, a JSON object.
        (head, head), ("\(head).b c", "\(head).b c"),
        ("surveyJson.pages.count", "surveyJson.pages.count"),
        ("eyJeyJeyJ", "eyJeyJeyJ"), ("x\(head)\(head).b.c", "x…"),
    ])
    func tokens(text: String, shown: String) throws {
        let redaction = Redaction()
        func content(_ text: String, _ type: String?) -> String {
            String(decoding: redaction.shown(Array(text.utf8), type: type), as: UTF8.self)
        }
        for type in [nil, "text/html", "application/pdf", "text/event-stream"] {
            #expect(content(text, type) == shown)
        }
        #expect(
            content("a=\(text)&b=\(text)".replacing(" ", with: "+"), "application/x-www-form-urlencoded")
                == "a=\(shown)&b=\(shown)".replacing(" ", with: "+"))
        #expect(content(#"{"a":"\#(text)"}"#, "application/json") == #"{"a":"\#(shown)"}"#)
        #expect(content(#"{"a":"{\"b\":\"\#(text)\"}"}"#, nil) == #"{"a":"{\"b\":\"\#(shown)\"}"}"#)
        #expect(redaction.shown([.accept: text]).first?.value == shown)
        let plain = text.replacing(" ", with: "%20")
        #expect(
            redaction.shown(url: "https://a.test/\(plain)") == "https://a.test/"
                + shown.replacing(" ", with: "%20"))
    }

    /// The end of a text may cut off a token.
    @Test func cutTokens() {
        for type in [nil, "application/json"] {
            let text = Array(#"{"a":"\#(Self.head).eyJzd"#.utf8)
            #expect(redaction.shown(text, type: type) == Array(#"{"a":"…"#.utf8))
        }
    }

    /// Numbers and flags, and the codes of errors and envelopes, stay.
    @Test(arguments: [
        (#"{"access":"a","refresh":"b","code":"1234"}"#, #"{"access":"…","refresh":"…","code":"…"}"#),
        (#"{"code":123456,"refresh":true,"access":30}"#, #"{"code":123456,"refresh":true,"access":30}"#),
        (#"{"access":{"refresh":"b"}}"#, #"{"access":{"refresh":"…"}}"#),
        (
            #"[{"code":"DE"},{"code":"EUR"},{"code":"200"}]"#,
            #"[{"code":"DE"},{"code":"EUR"},{"code":"200"}]"#
        ),
        (#"{"code":"A0400","message":"no"}"#, #"{"code":"A0400","message":"no"}"#),
        (#"{"data":{"code":"s3cret"},"code":"00000"}"#, #"{"data":{"code":"…"},"code":"00000"}"#),
        (
            #"{"errors":[{"a":[],"code":"NOT_FOUND"},{"extensions":{"code":"NOT_FOUND"}}]}"#,
            #"{"errors":[{"a":[],"code":"NOT_FOUND"},{"extensions":{"code":"NOT_FOUND"}}]}"#
        ),
        (
            #"{"error":{"code":"NOT_FOUND"},"code":"s3cret"}"#,
            #"{"error":{"code":"NOT_FOUND"},"code":"s3cret"}"#
        ),
        (
            #"{"status":{"code":"A0400"},"login":{"code":"s3cret"}}"#,
            #"{"status":{"code":"A0400"},"login":{"code":"…"}}"#
        ),
        (#"{"message":"cut","code":"A0400"#, #"{"message":"cut","code":"A0400"#),
        (
            #"{"statusCode":"abcd","country_code":"abcd","accessory":"a"}"#,
            #"{"statusCode":"abcd","country_code":"abcd","accessory":"a"}"#
        ),
    ])
    func codes(text: String, shown: String) {
        #expect(String(decoding: Redaction().shown(json: Array(text.utf8)), as: UTF8.self) == shown)
    }

    /// A text that is nested deeper than any real one is hidden.
    @Test func deepTexts() throws {
        var text = #"{"a":"canary"}"#
        for _ in 0..<9 {
            text = #"{"a":"\#(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))"}"#
        }
        let shown = redaction.shown(json: Array(text.utf8))
        #expect(!String(decoding: shown, as: UTF8.self).contains("canary"))
        _ = try JSONDecoder().decode([String: String].self, from: Data(shown))
    }

    /// Long texts made to be searched again and again are searched a few times.
    @Test(arguments: [
        "\"", "\\\"", "{\"code\":\"", "\"code\":\"abcd", "{\"error\":[", "[", "//", "/", "//a@", "?a=%25",
        "&", "eyJ", "eyJ.",
        "eyJhfQ.", ".eyJhfQ", "\"pin\":", "{\"a\":\"\\\"", "%", "\"a\\n", "\n\"", "data:\"\n",
        "data:{\"pin\":\n", "--b\r\n",
        "[{\"\":", "e", "\"\\u0022", "pin_", "pin.",
    ])
    func hostileTexts(piece: String) {
        let text = Array(String(repeating: piece, count: 60_000 / piece.utf8.count).utf8)
        for type in [
            nil, "application/x-www-form-urlencoded", "text/event-stream", "multipart/mixed; boundary=b",
        ] {
            #expect(redaction.shown(text, type: type).isEmpty == false)
        }
        let name = Array("{\"".utf8) + text + Array("\":\"a\"}".utf8)
        _ = redaction.shown(name, type: "application/json")
        _ = redaction.shown(url: "https://a.test/?" + String(decoding: text, as: UTF8.self))
    }

    @Test(arguments: [
        ("data: {\"pin\":1}\n\n", "data: {\"pin\":\"…\"}\n\n"),
        (
            "id: 7\r\ndata:{\"pin\":1}\r\n\r\ndata: a\r\n\r\n",
            "id: 7\r\ndata:{\"pin\":\"…\"}\r\n\r\ndata: a\r\n\r\n"
        ),
        ("data: {\"pin\":\nid: 7\ndata: \"s7\"}\n\n", "data: {\"pin\":\nid: 7\ndata: \"…\"}\n\n"),
        ("data:{\"pin\":[\nid: 7\ndata:1],\"a\":2}\n\n", "data:{\"pin\":\"…\"\nid: 7\ndata:,\"a\":2}\n\n"),
        ("data: \"\n\ndata: {\"pin\":1}", "data: \"\n\ndata: {\"pin\":\"…\"}"),
        ("\u{FEFF}data: {\"pin\":1}\n\n", "\u{FEFF}data: {\"pin\":\"…\"}\n\n"),
        (": pin\rdata: {\"a\":1}\r\r", ": pin\rdata: {\"a\":1}\r\r"), ("data: pin=1", "data: pin=1"),
        ("", ""),
    ])
    func eventStreams(text: String, shown: String) {
        let type = "text/event-stream; charset=utf-8"
        #expect(redaction.shown(Array(text.utf8), type: type) == Array(shown.utf8))
    }

    /// Spelling does not matter: case, hyphens and underscores.
    @Test(arguments: [
        "accessToken", "access-token", "ACCESS_TOKEN", "Access Token", "refreshToken", "refresh_token",
        "clientSecret",
        "CLIENT-SECRET", "apiKey", "API_KEY", "X-Amz-Signature", "xAmzSignature", "idToken",
        "newPassword", "P-I-N",
        "user[accessToken]", "user.client_secret", "password[0]", "token[a][b]",
        "device_code", "userPassword", "githubAccessToken", "APIKey", "user-PIN", "smsOTP", "sid",
        "userAPIKey",
    ])
    func spellings(name: String) {
        #expect(redaction.hides(name))
        #expect(
            redaction.shown(url: "https://a.test/?\(name.replacing(" ", with: "%20"))=s7").contains("s7")
                == false)
        let json = redaction.shown(Array(#"{"\#(name)":"s7"}"#.utf8), type: "application/json")
        #expect(!String(decoding: json, as: UTF8.self).contains("s7"))
        let form = redaction.shown(Array("\(name)=s7".utf8), type: "application/x-www-form-urlencoded")
        #expect(!String(decoding: form, as: UTF8.self).contains("s7"))
    }

    /// Names that merely contain such a word are not secret.
    @Test(arguments: [
        "tokens", "spin", "keyword", "signatures", "pinned", "accessTokens", "barcode", "accessory",
        "pinCount",
        "passwordLength", "nextPageToken", "countryCode", "statusCode", "refreshInterval", "asid", "OTPs",
    ])
    func otherNames(name: String) { #expect(!redaction.hides(name)) }

    /// Fields with the name of a secret parameter are hidden, with X- or without.
    @Test(arguments: [
        "Token", "X-Api-Key", "Api-Key", "X-Auth-Token", "X-Pin", "pin", "X-CSRF-Token", "Signature",
    ])
    func fieldNames(name: String) throws {
        let field = try #require(HTTPField.Name(name))
        #expect(redaction.hides(field))
        #expect(!Redaction().hides(.accept) && !Redaction().hides(.contentType))
    }

    private static let form = [
        "--b", "Content-Disposition: form-data; name=\"title\"", "", "tea", "--b",
        "Content-Disposition: form-data; name=\"pin\"; filename=\"f\"", "Content-Type: text/plain",
        "X-Pin: s7", "", "s7",
        "--b", "content-disposition: form-data; name=user[accessToken]", "", "s7\r\n--c\r\n--bx\r\n\r\ns7",
        "--b",
        "Content-Disposition: form-data; name=\"data\"", "Content-Type: application/json", "",
        #"{"pin":"s7","a":1}"#,
        "--b--", "",
    ].joined(separator: "\r\n")

    /// Parts of a multipart form are hidden by their names, and so are members within them.
    @Test func multipart() {
        let shown = String(
            decoding: redaction.shown(Array(Self.form.utf8), type: "multipart/form-data; boundary=\"b\""),
            as: UTF8.self)
        #expect(!shown.contains("s7"))
        for text in ["tea", #"{"pin":"…","a":1}"#, "X-Pin: …", "--b--\r\n", "\r\n\r\n…\r\n--b"] {
            #expect(shown.contains(text), "\(shown)")
        }
        #expect(shown.hasSuffix("--b--\r\n"))
    }

    /// Many parts without a blank line take linear time.
    @Test(.timeLimit(.minutes(1))) func partsWithoutContent() {
        let content = Array(String(repeating: "--b\r\na:b\r\n", count: 100_000).utf8)
        #expect(redaction.shown(content, type: "multipart/mixed; boundary=b") == content)
    }

    /// Parts of a part that is a form itself are hidden by their names.
    @Test func nestedMultipart() {
        let form = [
            "--b", "Content-Disposition: form-data; name=\"files\"",
            "Content-Type: multipart/mixed; boundary=c", "",
            "--c", "Content-Disposition: form-data; name=\"pin\"", "", "s7", "--c--", "--b--", "",
        ].joined(separator: "\r\n")
        let shown = String(
            decoding: redaction.shown(Array(form.utf8), type: "multipart/form-data; boundary=b"),
            as: UTF8.self)
        #expect(!shown.contains("s7"))
        #expect(shown.contains("\r\n\r\n…\r\n--c--\r\n--b--"))
    }

    /// The marks of a head are bytes: each of these is one `Character` with a mark before or after it.
    @Test(arguments: [
        "Content-Disposition: form-data; filename=\"a\u{600}\"; name=\"pin\"",
        "Content-Disposition:\u{301}form-data; name=\"pin\"",
        "Content-Disposition: form-data; x=\u{600};name=pin",
    ])
    func combiningMarksInMultipart(head: String) {
        let form = ["--b", head, "", "s7", "--b--", ""].joined(separator: "\r\n")
        let shown = redaction.shown(Array(form.utf8), type: "multipart/form-data; boundary=b")
        #expect(!String(decoding: shown, as: UTF8.self).contains("s7"))
    }

    /// What a credential adds to a form is hidden after a value that ends with a prepended mark, too.
    @Test func combiningMarksInFormsWithAdditions() throws {
        var request = Request(
            method: .post, url: try #require(URL(string: "https://a.test/")),
            headerFields: [.contentType: "application/x-www-form-urlencoded"], body: .text("a=\u{600}"))
        try request.addSecrets { request throws(NetworkError) in
            request.body = .text("a=\u{600}&voucher=s7")
        }
        let shown = request.shown(Array("a=\u{600}&voucher=s7".utf8))
        #expect(String(decoding: shown, as: UTF8.self) == "a=\u{600}&voucher=…")
    }

    /// A password with a raw `?` or `#` is in no error message; an `@` in a query hides nothing of a path.
    @Test(arguments: [
        ("https://u:s7#x@a.test/y", "…"), ("https://u:s7?x@a.test", "…"), ("u:s7#x@a.test", "…"),
        ("https://a.test/x?q=a@b", "https://a.test/x"), ("/x?q=a@b", "/x"),
        ("https://u:s7@a.test/x", "@a.test/x"), ("https://a.test:80/x?q=a@b", "https://a.test:80/x"),
        ("https:///u:s7?x@a.test", "…"), ("u:7#x@a.test", "…"),
    ])
    func errorTexts(text: String, shown: String) { #expect(text.withoutSecrets == shown.debugDescription) }

    /// A text in an error message ends before its query, and has no user info.
    @Test(arguments: [
        "https://a.test/x?\u{301}q=s7", "https://a.test/\u{600}?q=s7", "https://a.test/#\u{301}s7",
        "https://u:s7\u{600}@a.test/", "https://u:s7@\u{301}a.test/",
    ])
    func combiningMarksInErrors(text: String) { #expect(!text.withoutSecrets.contains("s7")) }

    /// Only two hexadecimal digits are an escape.
    @Test(arguments: [
        ("a%20b+c", "a b c"), ("%+5", "% 5"), ("%-5%4", "%-5%4"), ("%4", "%4"), ("%zz%6A", "%zzj"),
    ])
    func formEscapes(text: String, plain: String) { #expect(text.decodedAsForm == plain) }

    /// However a form is cut, no more than the beginning of a part's head is shown.
    @Test func cutMultipart() {
        let whole = Array(Self.form.utf8)
        for count in 0..<whole.count {
            let shown = redaction.shown(Array(whole.prefix(count)), type: "multipart/form-data; boundary=b")
            #expect(!String(decoding: shown, as: UTF8.self).contains("s7"))
        }
    }

    @Test func fields() {
        let fields: HTTPFields = [
            .authorization: "s7", .cookie: "s7", .setCookie: "s7", .proxyAuthorization: "s7",
            HTTPField.Name("x-kEY")!: "s7", .location: "https://u:s7@a.test/?pin=s7",
            .secWebSocketProtocol: "chat, s7", .accept: "*/*",
        ]
        let shown = redaction.shown(fields)
        #expect(!"\(shown)".contains("s7"))
        #expect(shown.count == 8)
        #expect(shown.last?.value == "*/*")
        #expect(shown[5].value == "https://…@a.test/?pin=…")
    }

    /// Names of any size take linear time. The marks have another order in the form that `String` hashes and compares.
    @Test(.timeLimit(.minutes(1))) func largeNames() {
        let name = String(repeating: "\u{301}\u{323}", count: 100_000)
        let json = Array(#"{"\#(name)":"s","message":"m","code":"ABCD"}"#.utf8)
        #expect(redaction.shown(json: json) == json)
        #expect(redaction.shown(form: "\(name)=s").utf8.suffix(2).elementsEqual("=s".utf8))
        #expect(redaction.shown(url: "?\(name)=s").utf8.suffix(2).elementsEqual("=s".utf8))
        #expect(redaction.shown(form: "\(name)_password=s").utf8.suffix(4).elementsEqual("=…".utf8))
        // Among flags, each step back by `Character` begins at the first one.
        let flags = String(repeating: "\u{1F1E6}", count: 200_000)
        #expect(flags.withoutSecrets.utf8.count > flags.utf8.count)
    }

    /// A long, unique secret stays hidden however the text around it is damaged.
    @Test(arguments: 0..<20)
    func nothingTraps(seed: UInt64) {
        var random = SeededRandom(seed)
        let texts = [
            Self.form,
            #"{"user":{"pin":"7","x":[1,2,{"pin":{"a":"b"}}]},"\u0070in":1e5}"#,
            "https://u:p@a.test/a/b?pin=1&user%5Bpin%5D=2#pin=3",
        ]
        for _ in 0..<500 {
            for text in texts {
                let broken = Array(text.utf8).mutated(by: &random)
                _ = redaction.shown(json: broken)
                _ = redaction.shown(url: String(decoding: broken, as: UTF8.self))
                _ = redaction.shown(form: String(decoding: broken, as: UTF8.self))
                _ = redaction.shown(broken, type: "multipart/form-data; boundary=b")
            }
        }
    }
}
