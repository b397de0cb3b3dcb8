import FoundationEssentials
import HTTPTypes
import RxHTTP
import Testing

@testable import RxCache

/// Equality of two bodies of a POST for the cache.
@Suite struct ContentDigestTests {
    private func digest(_ json: String) throws -> String {
        var request = Request(
            method: .post, url: try #require(URL(string: "http://shop.test/search")), body: .text(json))
        try request.setField("Content-Type", to: "application/json")
        return try #require(request.contentDigest)
    }

    @Test(arguments: [
        (#"{"a":12345678901234567890123}"#, #"{"a":12345678901234567890124}"#),
        (#"{"a":9007199254740993.0}"#, #"{"a":9007199254740992.0}"#),
        (#"{"a":0.1000000000000000000001}"#, #"{"a":0.1}"#), (#"[1e400]"#, #"[1e401]"#), ("1", #""1""#),
        (#"{"a":[1,2]}"#, #"{"a":[2,1]}"#), (#"{"a":{"b":1}}"#, #"{"a":{"c":1}}"#),
        (#"{"a":1,"a":2}"#, #"{"a":2,"a":1}"#), (#"{"a":1,"a":2}"#, #"{"a":1}"#), ("null", "false"),
        ("[]", "{}"), (#"["a","b"]"#, #"["a\",\"b"]"#), (#"{"a":"\u0000"}"#, #"{"a":""}"#),
        (#"{"e\u0301":1}"#, #"{"\u00e9":1}"#), (#"["\ud800"]"#, #"["\ud801"]"#),
    ])
    func differ(_ first: String, _ second: String) throws {
        #expect(try digest(first) != digest(second))
    }

    @Test(arguments: [
        (#"{"a":12345678901234567890123,"b":[2]}"#, #"{ "b" : [ 2 ], "a":12345678901234567890123 }"#),
        (#"{"x":{"b":1,"a":2},"w":[{"d":1,"c":2}]}"#, #"{"w":[{"c":2,"d":1}],"x":{"a":2,"b":1}}"#),
        (#"{"\u0061":"\u00e9\n"}"#, "{\"a\":\"\u{E9}\\n\"}"), (#"["\/"]"#, #"["/"]"#),
        (#"{"a":1,"b":3,"a":2}"#, #"{"b":3,"a":1,"a":2}"#), (#"["\ud83d\ude00"]"#, "[\"\u{1F600}\"]"),
    ])
    func areTheSame(_ first: String, _ second: String) throws {
        #expect(try digest(first) == digest(second))
    }

    @Test func deepAndBrokenOnesHaveOneToo() throws {
        let depths = [1, 511, 512, 513, 100_000]
        let digests = try depths.map { depth in
            try digest(String(repeating: "[", count: depth) + String(repeating: "]", count: depth))
        }
        #expect(Set(digests).count == depths.count)
        #expect(try digest("{") != digest("["))
    }
}
