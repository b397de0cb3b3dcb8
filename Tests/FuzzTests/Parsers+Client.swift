import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxParameters
import RxTesting

@testable import RxClient
@testable import RxHAR

extension Parser {
    static let client: [Parser] = [
        Parser(
            "Link",
            text: [
                "<https://a.test/?page=2>; rel=\"next\", </1>; rel=first",
                "</a>; rel=\"prev next\"; title=\"a, \\\"b\\\"\"",
                "<x>;rel=next;anchor=\"#a\"", "<>", "<a", ";,<b>;rel*=x",
            ]
        ) { text in
            let header = LinkHeader(text)
            for link in header.links {
                try demand(
                    text.contains(link.target) || !text.utf8.allSatisfy { $0 < 0x80 }, "a target of nowhere")
                try demand(
                    link.relations.allSatisfy { $0 == $0.lowercased() && !$0.contains(" ") }, "\(link)")
            }
            let request = Request(url: URL(string: "https://a.test/list")!)
            let response = Response(head: ResponseHead(status: .ok), request: request)
            do {
                let url = try header.target(of: "next", in: response)
                try demand(url.map { Origin($0) != nil } ?? true, "a link to what is no http URL")
                return url?.absoluteString ?? "none"
            } catch let error as NetworkError {
                return error.code.rawValue
            }
        },
        Parser(
            "Retry-After",
            text: [
                "120", "0", "99999999999999999999999", "Sun, 06 Nov 1994 08:49:37 GMT",
                "Fri, 31 Dec 9999 23:59:59 GMT",
                "-1", "1.5",
            ]
        ) { text in
            var error = NetworkError(.status, "")
            error.head = ResponseHead(
                status: .serviceUnavailable, fieldLines: Array("Retry-After: \(text)\r\n".utf8))
            guard let wait = error.retryAfter(now: Date(timeIntervalSince1970: 784_111_777)) else {
                return "none"
            }
            try demand(wait >= .zero && wait <= .seconds(1 << 31), "\(wait)")
            return "\(wait)"
        },
        Parser(
            "envelope",
            [
                #"{"code":0,"message":"ok","data":{"a":1}}"#, #"{"code":"0","data":[1,2]}"#,
                #"{"code":7,"message":null}"#,
                #"{"code":true}"#, "[]", "",
            ]
        ) { bytes in
            let request = Request(url: URL(string: "https://a.test/")!)
            let response = Response(head: ResponseHead(status: .ok), body: bytes, request: request)
            do {
                let opened = try Envelope().open(response)
                try demand(opened.payloadPath == ["data"], "\(opened.payloadPath)")
                return "\((try? opened.decode([Int].self)) ?? [])"
            } catch let error as NetworkError {
                try demand([.envelope, .decoding].contains(error.code), "\(error)")
                try demand(error.body == bytes, "the body is lost")
                return "\(error.code.rawValue) \(error.envelopeCode ?? "")"
            }
        },
        Parser(
            "JSON document",
            [
                #"{"a":{"b":[1,-2.5e3,null]},"c":18446744073709551615}"#, #"{"a":{"b":1}}"#, "1e999",
                "[[[[1]]]]",
            ]
        ) { bytes in
            let request = Request(url: URL(string: "https://a.test/")!)
            var response = Response(head: ResponseHead(status: .ok), body: bytes, request: request)
            response.payloadPath = ["a", "b"]
            do {
                let value = try response.decode([Double?]?.self)
                return "\(value.map { "\($0.count)" } ?? "none")"
            } catch let error as NetworkError {
                try demand(error.code == .decoding, "\(error)")
                return "decoding"
            }
        },
        Parser(
            "JSON tree",
            [
                #"{"a":{"b":[1,-2.5e3,"x",null,true]},"c":18446744073709551615}"#,
                "[1234567890123.123456789]",
                #"{"a":-1e-7,"b":100000000000000000000}"#, "[[[[1]]]]",
            ]
        ) { bytes in
            guard let tree = JSONValue(parsing: bytes) else { return "no JSON" }
            let written = try JSONEncoder().encode(tree)
            try demand(JSONValue(parsing: Array(written)) == tree, "not the same once written")
            return "\(tree)"
        },
        Parser(
            "path",
            text: [
                "/x?a=b", "x", "//evil.test", "https://a.test/y", "https://evil.test", "@evil.test",
                "/ä%zz#f", "",
            ]
        ) { text in
            let hosts = HostRegistry(ClientConfiguration(), on: VirtualScheduler())
            let servers = ServerPair(main: Server("https://a.test/v1", in: hosts), standby: nil)
            do {
                let url = try servers.url(for: text, allowingOtherOrigins: false)
                try demand(Origin(url) == servers.main.origin, "\(url) leaves the origin")
                return url.absoluteString
            } catch let error as NetworkError {
                try demand(error.code == .invalidURL, "\(error)")
                return "invalid"
            }
        },
        Parser(
            "query",
            text: ["https://a.test/?a=1&b=2&a=3#a=4", "https://a.test/?%61=1", "https://a.test?&&=&"]
        ) { text in
            guard let url = URL(string: text) else { return "none" }
            var request = Request(url: url)
            request.removeQuery(named: "a")
            do { try request.appendQuery("a=5") } catch let error as NetworkError {
                return error.code.rawValue
            }
            let parts = request.url.absoluteString.split(separator: "?", maxSplits: 1)
            let pairs = parts.count > 1 ? parts[1].split(separator: "&") : []
            try demand(pairs.count { $0 == "a=5" } >= 1, "not appended")
            try demand(!pairs.contains { $0.hasPrefix("a=") && $0 != "a=5" }, "not taken out")
            return request.url.absoluteString
        },
        Parser(
            "Set-Cookie in a recording",
            text: [
                "a=b; Path=/; Expires=Sun, 06 Nov 1994 08:49:37 GMT; Secure; HttpOnly", "=b", "a", ";;",
                "a=b; path",
            ]
        ) { text in
            guard let cookie = HAR.Cookie(set: text) else { return "none" }
            try demand(!cookie.name.isEmpty, "no name")
            try demand(cookie.value == Redaction.mark, "the value is shown")
            return "\(cookie)"
        },
    ]
}
