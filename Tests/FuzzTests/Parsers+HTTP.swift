import FoundationEssentials
import HTTPTypes

@testable import RxHTTP

extension Parser {
    static let all =
        http + parts + curl + codings + client + cache + webSocket + cassette + openAPI + auth
        + fleet

    static let http: [Parser] = [
        Parser(
            "header section",
            ["A: b\r\nC: d\r\n", "A: b\r\n c\r\n\td\nSet-Cookie: a=b\r\n", "A:\r\n: x\r\nno colon\r\n"]
        ) { bytes in
            let head = ResponseHead(status: .ok, fieldLines: bytes)
            let fields = head.headerFields
            for field in fields {
                try demand(HTTPField.Name(field.name.rawName) != nil, "a name that is no token")
                try demand(HTTPField.isValidValue(field.value), "a value that no field may have")
                try demand(head[field.name] != nil, "a field that is not found by its name")
            }
            return fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
        },
        Parser(
            "date",
            text: [
                "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
                "Thu, 29 Feb 2024 23:59:60 GMT", "Fri, 31 Dec 9999 23:59:59 GMT",
                "Mon, 01 Jan 1601 00:00:00 GMT",
            ]
        ) { text in
            guard let date = Date(httpDate: text) else { return "none" }
            // From 1601 to the end of 9999.
            try demand((-11_644_473_600...253_402_300_800).contains(date.timeIntervalSince1970), "\(date)")
            return "\(date.timeIntervalSince1970)"
        },
        Parser(
            "HSTS field",
            text: [
                "max-age=31536000; includeSubDomains", "max-age=\"60\" ; x=\"a;\\\"b\"", "MAX-AGE=0;;preload",
                "max-age",
            ]
        ) { text in
            guard let policy = HSTSPolicy(text) else { return "none" }
            try demand((0...HSTSPolicy.longestAge).contains(policy.maxAge), "an age of \(policy.maxAge)")
            return "\(policy)"
        },
        Parser(
            "HSTS file",
            [
                "# c\n.a.test \"20271122 10:02:33\"\nb.test \"unlimited\"\r\n",
                "127.0.0.1 \"20271122 10:02:33\"\n",
            ]
        ) { bytes in
            let read = HSTSFile.entries(bytes)
            for (host, _) in read { try demand(HSTSHosts.name(host) == host, "a host that is none: \(host)") }
            let entries = Dictionary(read.map { ($0.host, $0.entry) }) { first, _ in first }
            let written = HSTSFile.bytes(entries)
            try demand(
                HSTSFile.entries(written).count == entries.count, "hosts are lost when they are written")
            return String(decoding: written, as: UTF8.self)
        },
        Parser(
            "redirect",
            text: [
                "/x", "//b.test/x", "https://b.test:8443/?a#b", "http://a.test", "..", "", "?q", "mailto:a@b",
            ]
        ) { text in
            let url = URL(string: "https://a.test/here")!
            var request = Request(url: url, headerFields: [.authorization: "secret"])
            request.headerFields[.cookie] = "secret"
            let head = ResponseHead(status: .found, fieldLines: Array("Location: \(text)\r\n".utf8))
            do {
                guard let next = try RedirectPolicy().redirect(request, to: head, count: 0) else {
                    return "none"
                }
                let origin = Origin(next.url)
                try demand(origin != nil, "redirected to what is no http URL")
                try demand(origin?.scheme == "https", "from https to http")
                try demand(
                    origin == Origin(url)
                        || next.headerFields[.authorization] == nil
                            && next.headerFields[.cookie] == nil,
                    "secrets for another origin")
                return next.url.absoluteString
            } catch let error as NetworkError {
                return "\(error.code.rawValue)"
            }
        },
        Parser("origin", text: ["http://a.test", "https://[::1]:80/x", "https://u:p@a.test:443?q", "x:"]) {
            text in
            guard let origin = URL(string: text).flatMap({ Origin($0) }) else { return "none" }
            try demand((1...65535).contains(origin.port), "port \(origin.port)")
            try demand(["http", "https"].contains(origin.scheme) && !origin.host.isEmpty, "\(origin)")
            return "\(origin)"
        },
        Parser("media type", text: ["application/json; charset=utf-8", "text/html", "a/b+json,c/d", ";"]) {
            text in
            let name = MediaType(text).name
            try demand(!name.contains { ";, ".contains($0) }, "more than a name: \(name)")
            return name
        },
        Parser(
            "shown URL",
            text: ["https://u:p@a.test/?pin=1&b[pin]=2&c=%70#pin=3", "<//u:p@b>; rel=x, <?pin=1>", "?pin"]
        ) { text in
            let redaction = Redaction(parameters: ["pin"])
            let shown = redaction.shown(url: text)
            try demand(redaction.shown(url: shown) == shown, "shown twice is not shown once")
            return shown + redaction.shown(form: text)
        },
        Parser(
            "shown JSON",
            [
                #"{"user":{"pin":"7","x":[1,{"pin":{"a":"b"}}]},"\u0070in":1e5}"#, #"[{"pin":[]},"pin"]"#,
                #"{"a":"{\"pin\":\"7\",\"b\":\"eyJhfQ.c.d\"}","u":"https:\/\/a.test?pin=1%20","code":"1234"}"#,
                #"{"code":"1234","error":{"code":"1234"},"errors":[{"code":"1234"}],"refresh":"a"}"#,
            ]
        ) { bytes in
            let redaction = Redaction(parameters: ["pin"])
            let shown = redaction.shown(json: bytes)
            if let document = try? JSONDecoder().decode([String: String].self, from: Data(bytes)) {
                let again = try? JSONDecoder().decode([String: String].self, from: Data(shown))
                try demand(again != nil, "what was a document is none any more")
                for (name, value) in document where !redaction.hides(name) {
                    let isPlain = !value.contains { "\"\\?&#/".contains($0) } && !value.contains("eyJ")
                    try demand(again?[name] == value || !isPlain, "\(name) is not what it was")
                }
                for (name, value) in again ?? [:] where name.lowercased() == "pin" {
                    try demand(value == Redaction.mark, "\(name) is shown")
                }
            }
            return String(decoding: shown, as: UTF8.self)
        },
        Parser(
            "shown content",
            [
                "data: {\"pin\":\ndata: \"7\",\r\nid: 7\ndata:\"a\":\"eyJhfQ.b.c\"}\n\n",
                "a=%7B%22pin%22%3A1%7D&pin=7&u=https%3A%2F%2Fu:p@a.test%2F%3Fpin=1&t=eyJhfQ.b.c",
                "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\n{\"pin\":1}\r\n--c--\r\n--b--",
                "v1_eyJhfQ..b.c.d {\"a\":\"\\\"pin\\\":1\"}",
            ]
        ) { bytes in
            let redaction = Redaction(parameters: ["pin"])
            let types = [
                nil, "application/json", "application/x-www-form-urlencoded", "text/event-stream",
                "multipart/form-data; boundary=b", "image/png",
            ]
            for type in types {
                let shown = redaction.shown(bytes, type: type)
                let text = String(decoding: shown, as: UTF8.self)
                let isText = String(validating: bytes, as: UTF8.self) != nil
                try demand(
                    !isText || !text.contains("eyJhfQ.b.c"), "a token is shown as \(type ?? "untyped")")
            }
            return String(decoding: redaction.shown(bytes, type: nil), as: UTF8.self)
        },
    ]
}
