import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Testing

@testable import RxClient

/// The server's reason for a refusal, in the formats that servers use.
@Suite struct ErrorMessageTests {
    private func message(
        _ body: String, type: String = "application/json", envelope: Envelope? = nil
    ) throws -> String? {
        let head = ResponseHead(status: .badRequest, headerFields: [.contentType: type])
        let url = try #require(URL(string: "https://a.test/x"))
        let response = Response(head: head, body: Array(body.utf8), request: Request(url: url))
        let error = #expect(throws: NetworkError.self) { try response.checkStatus(envelope) }
        #expect(error?.code == .status)
        return error?.message
    }

    /// The usual names, at the top level and in an object.
    @Test(arguments: [
        (#"{"message":"no tea"}"#, "no tea"), (#"{"msg":"no tea","message":""}"#, "no tea"),
        (#"{"error":{"message":"no tea"}}"#, "no tea"), (#"{"error":"no tea"}"#, "no tea"),
        (#"{"error":"invalid_grant","error_description":"no tea"}"#, "no tea"),
        (#"{"errors":[{"message":"no tea"},{"message":"no milk"}]}"#, "no tea; no milk"),
        (#"{"message":"tea \u2615"}"#, "tea ☕"), (#"{"m\u0065ssage":"no tea"}"#, "no tea"),
        (#"{"message":7}"#, "7"),
        (#"{"a":1}"#, "Bad Request"), ("{}", "Bad Request"), ("[]", "Bad Request"), ("7", "Bad Request"),
        ("<html>", "Bad Request"), ("", "Bad Request"), (#"{"message":null}"#, "Bad Request"),
        (#"{"message":{"text":"x"}}"#, "Bad Request"), (#"{"ids":["a"],"n":1}"#, "Bad Request"),
    ])
    func usual(body: String, expected: String) throws { #expect(try message(body) == expected) }

    /// Django REST framework: detail, fields, fields in fields, and lists.
    @Test(arguments: [
        (#"{"detail":"Not found."}"#, "Not found."),
        (
            #"{"detail":"Token is expired","code":"token_not_valid","messages":[{"message":"x"}]}"#,
            "Token is expired"
        ),
        (
            #"{"name":["This field is required."],"age":["A valid integer is required."]}"#,
            "name: This field is required.; age: A valid integer is required."
        ),
        (#"{"title":["Too short.","Too dull."]}"#, "title: Too short. Too dull."),
        (#"{"non_field_errors":["The two do not match."]}"#, "The two do not match."),
        (#"{"address":{"zip":["Unknown."]}}"#, "address.zip: Unknown."),
        (#"{"items":[{},{"price":["Too low."]}]}"#, "items.1.price: Too low."),
        (#"["Not allowed.","Not now."]"#, "Not allowed.; Not now."),
        (#"{"detail":["Wrong."]}"#, "Wrong."),
    ])
    func django(body: String, expected: String) throws { #expect(try message(body) == expected) }

    /// FastAPI: detail as text, as object, and as a list of places.
    @Test(arguments: [
        (#"{"detail":"Item not found"}"#, "Item not found"),
        (#"{"detail":{"msg":"no tea","code":3}}"#, "no tea"),
        (
            #"{"detail":[{"type":"missing","loc":["body","price"],"msg":"Field required","input":{"a":1}},"#
                + #"{"type":"int_parsing","loc":["query","items",0],"msg":"Not a number","input":"x"}]}"#,
            "body.price: Field required; query.items.0: Not a number"
        ),
    ])
    func fastAPI(body: String, expected: String) throws { #expect(try message(body) == expected) }

    /// Problem details (RFC 9457): detail, else title, before other members.
    @Test(arguments: [
        (
            #"{"type":"x","title":"No credit","status":403,"detail":"30, costs 50","message":"m"}"#,
            "30, costs 50"
        ),
        (#"{"type":"about:blank","title":"No credit","message":"m"}"#, "No credit"),
        (##"{"title":"Invalid","errors":[{"detail":"must be positive","pointer":"#/age"}]}"##, "Invalid"),
        (##"{"errors":[{"detail":"must be positive","pointer":"#/age"}]}"##, "#/age: must be positive"),
    ])
    func problems(body: String, expected: String) throws {
        #expect(try message(body, type: "application/problem+json; charset=utf-8") == expected)
    }

    /// The envelope's keys come first, and its code counts.
    @Test func envelope() throws {
        let envelope = Envelope(code: "err.no", message: ["err.text", "hint"], payload: "data", success: 0)
        #expect(try message(#"{"message":"m","hint":"h"}"#, envelope: envelope) == "h")
        #expect(
            try message(#"{"message":"m","hint":"h","err":{"no":1,"text":"t"}}"#, envelope: envelope) == "t")
        #expect(try message(#"{"message":"m"}"#, envelope: envelope) == "m")
    }

    /// The maximum number of values that are read.
    private func steps(_ body: String) throws -> Int {
        var reader = try #require(ErrorMessageReader(Array(body.utf8)))
        _ = reader.message(at: nil)
        return reader.steps
    }

    /// Twice the body takes at most twice the work, for any structure.
    @Test(
        arguments: [
            { count in
                String(repeating: #"{"error":"#, count: count / 50) + "1"
                    + String(repeating: "}", count: count / 50)
            },
            { count in "{" + (0..<count).map { #""k\#($0)":{"a":["b"]}"# }.joined(separator: ",") + "}" },
            { count in "{" + (0..<count).map { #""k\#($0)":[{"a":[1]}]"# }.joined(separator: ",") + "}" },
            { count in
                #"{"error":["# + Array(repeating: #"{"errors":[1]}"#, count: count).joined(separator: ",")
                    + "]}"
            },
            { count in
                let rest =
                    #","a":["# + Array(repeating: "1", count: count / 100).joined(separator: ",") + "]}"
                return String(repeating: #"{"detail":"#, count: 100) + "{}"
                    + String(repeating: rest, count: 100)
            },
            { count in String(repeating: "[", count: count / 50) + String(repeating: "]", count: count / 50)
            },
        ] as [@Sendable (Int) -> String])
    func linear(body: @Sendable (Int) -> String) throws {
        let (small, large) = (body(10_000), body(20_000))
        let (few, many) = (try steps(small), try steps(large))
        #expect(many <= 2 * few + few / 10 + 16, "\(few) and \(many) steps")
        #expect(many <= 10 * large.utf8.count)
    }

    /// The message is found in a quarter of a megabyte at the maximum nesting.
    @Test func deep() throws {
        let padding = #"{"a":"\#(String(repeating: "x", count: 500))","error":"#
        let body =
            String(repeating: padding, count: 490) + #"{"message":"no tea"}"#
            + String(repeating: "}", count: 490)
        #expect(body.utf8.count < Response.inPlaceLimit)
        #expect(try message(body) == "no tea")
    }

    /// A message has at most 32 parts.
    @Test func bounded() throws {
        let fields = "{" + (0..<1000).map { #""k\#($0)":["no"]"# }.joined(separator: ",") + "}"
        #expect(try message(fields)?.split(separator: ";").count == 32)
        let list = "[" + Array(repeating: #""no""#, count: 1000).joined(separator: ",") + "]"
        #expect(try message(list)?.split(separator: ";").count == 32)
    }

    /// The server's text is kept apart from the library's.
    @Test func serverMessage() throws {
        let url = try #require(URL(string: "https://a.test/x"))
        for (body, text) in [(#"{"msg":"no tea"}"#, "no tea"), ("<html>", nil), (#"{"a":1}"#, nil)] {
            let response = Response(
                head: ResponseHead(status: .badRequest), body: Array(body.utf8), request: Request(url: url))
            let error = try #require(
                throws: NetworkError.self
            ) { try response.checkStatus(nil) }
            #expect(error.serverMessage == text)
            #expect(error.message == text ?? "Bad Request")
            #expect(error.withoutServerText.serverMessage == nil)
        }
        for (body, text) in [(#"{"code":1,"message":"no tea"}"#, "no tea"), (#"{"code":1}"#, nil)] {
            let response = Response(
                head: ResponseHead(status: .ok), body: Array(body.utf8), request: Request(url: url))
            let error = try #require(throws: NetworkError.self) { try Envelope().open(response) }
            #expect(error.serverMessage == text)
        }
        #expect(NetworkError(.connect, "no route").serverMessage == nil)
    }

    /// The text of a failure is that of its kind, else the server's, else the general one.
    @Test func texts() {
        var refusal = NetworkError(.envelope, "sold out")
        refusal.serverMessage = "sold out"
        var expired = NetworkError(.loginExpired, "token 7 is too old")
        expired.serverMessage = "token 7 is too old"
        let texts = ErrorTexts.english
        for code in NetworkError.Code.timeouts {
            #expect(texts.text(for: NetworkError(code, "no byte in 20 s")) == "The request timed out.")
        }
        #expect(texts.text(for: NetworkError(.unreachable, "")) == "There is no network connection.")
        #expect(texts.text(for: refusal) == "sold out")
        #expect(texts.text(for: expired) == "The login has expired.")
        #expect(texts.text(for: NetworkError(.status, "Bad Gateway")) == "The request failed.")
        #expect(
            texts.text(for: NetworkError(.decoding, "at data[0].price: a number")) == "The request failed.")
        var own = ErrorTexts([.loginExpired: "Please log in."], fallback: "Something went wrong.")
        #expect(own.text(for: expired) == "Please log in.")
        own[.loginExpired] = nil
        #expect(own.text(for: expired) == "token 7 is too old")
        #expect(own.text(for: NetworkError(.connect, "no route")) == "Something went wrong.")
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configuration.errorTexts = own
        let client = Client(
            configuration: configuration, transport: ScriptedTransport(on: VirtualScheduler(), []))
        #expect(client.text(for: NetworkError(.connect, "no route")) == "Something went wrong.")
    }
}
