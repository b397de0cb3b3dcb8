import FoundationEssentials
import HTTPTypes
import RxCache
import RxHTTP
import RxJSON
import RxLite

@testable import RxClient

extension Parser {
    static let cache: [Parser] = [
        Parser(
            "304 over a stored head",
            [
                "ETag: \"a\"\r\nA: 1\r\n\nETag: \"a\"\r\nB: 2\r\n",
                "A: 1\nA: 2\nConnection: a\n\nA: 3\nContent-Length: 7\n",
                "Cache-Control: no-cache=\"a, b\"\r\n\nConnection: close, a\r\nVary: *\r\n", "\n",
                "a:\n b\n\nc:",
            ]
        ) { bytes in
            let end =
                bytes.indices.first { $0 > 0 && bytes[$0] == 0x0A && bytes[$0 - 1] == 0x0A } ?? bytes.endIndex
            // Sometimes so often that both together exceed the maximum.
            let count = bytes.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF } % 256 == 0 ? 20_000 : 1
            let kept = ResponseHead(
                status: .ok, fieldLines: Array(repeatElement(bytes[..<end], count: count).joined()))
            let new = ResponseHead(
                status: .notModified, fieldLines: Array(repeatElement(bytes[end...], count: count).joined()))
            guard let updated = kept.storable.updated(by: new) else { return "too much" }
            let fields = updated.telling(age: 1).headerFields
            try demand(updated.status == .ok, "\(updated.status)")
            try demand(updated.fieldLines.count <= 256 << 10, "\(updated.fieldLines.count) bytes")
            try demand(fields.count <= ResponseHead.maxFields, "\(fields.count) fields")
            let confirmation = new.storable
            for name in Set(confirmation.headerFields.map(\.name)).prefix(4)
            where !["content-length", "content-encoding", "content-range"].contains(name.canonicalName) {
                try demand(updated[name] == confirmation[name], "\(name) is not that of the 304")
            }
            return "\(fields.count)"
        },
        Parser(
            "stored head",
            [
                #"{"code":200,"reason":"OK","fieldLines":"QTogYg0K"}"#,
                #"{"code":-1,"reason":"","fieldLines":""}"#,
                #"{"code":999,"reason":"\u0000","fieldLines":"Og0KIDoK"}"#,
            ]
        ) { bytes in
            guard let head = try? JSONDecoder().decode(ResponseHead.self, from: Data(bytes)) else {
                return "none"
            }
            let freshness = CacheFreshness(
                head.storable, arrived: head, url: "http://a.test/", asked: Date(timeIntervalSince1970: 0),
                now: Date(timeIntervalSince1970: 0))
            try demand(!freshness.age(at: Date(timeIntervalSince1970: 1)).isNaN, "no age")
            return "\(head.storable.telling(age: .infinity).headerFields.count)"
        },
        Parser(
            "Vary",
            text: ["Accept, Cookie", "*", "a,b,*", ",,  ,", "Accept-Language ,\tAuthorization", "\u{1}"]
        ) { text in
            let head = ResponseHead(status: .ok, fieldLines: Array("Vary: \(text)\r\n".utf8))
            let sent: HTTPFields = [.accept: "a, b", .cookie: "secret=1", .authorization: "secret"]
            let secret: Set<HTTPField.Name> = [.cookie, .authorization]
            guard let variant = CacheVariant(head, sent: sent, secret: secret) else { return "none" }
            try demand(variant.matches(sent, secret: secret), "a response that does not fit its own request")
            try demand(!"\(variant)".contains("secret"), "a secret is kept")
            return variant.fields.keys.sorted().joined(separator: " ")
        },
        Parser(
            "content digest",
            [
                #"{"b":[1,2.50,-0e1],"a":{"x":"\u00e9\/","x":null}}"#, #"[[],{},"",true]"#,
                "12345678901234567890123",
                #"{"a":"\ud800"}"#, "[[[[[[", "",
            ]
        ) { bytes in
            var request = Request(method: .post, url: URL(string: "http://a.test/")!, body: .bytes(bytes))
            request.headerFields[.contentType] = "application/json"
            let digest = request.contentDigest
            var spaced = request
            spaced.body = .bytes([0x20] + bytes + [0x0A])
            let isJSON =
                (try? JSONPart(wholeOf: bytes)) != nil && (try? JSONPart(wholeOf: [0x20] + bytes)) != nil
            try demand(digest?.utf8.count == 64, "no digest")
            try demand(!isJSON || spaced.contentDigest == digest, "blanks count")
            return digest ?? ""
        },
    ]
}
