import FoundationEssentials
import RxHTTP
import RxTesting
import Testing

@testable import RxClient

@Suite struct JSONOutlineTests {
    private func find(_ text: String, _ path: String...) throws -> String? {
        let bytes = Array(text.utf8)
        var outline = JSONOutline(bytes)
        return try outline.values(at: [path])[0].map { String(decoding: bytes[$0], as: UTF8.self) }
    }

    @Test(
        "A value is found by its key, whatever stands before and behind it",
        arguments: [
            (#"{"a":1}"#, "1"), (#"{"a":1,}"#, "1"), (#" { "a" : 1 } "#, "1"),
            (#"{"b":[{"a":2}],"a":-1.5e3,"c":{}}"#, "-1.5e3"),
            (#"{"b":"\"a\":2,{","a":"x\\\"}"}"#, #""x\\\"}""#),
            (#"{"a":{"b":[1,{}]},"c":[[]]}"#, #"{"b":[1,{}]}"#),
            (#"{"\u0061":null}"#, "null"), (#"{"a":1,"a":2}"#, "1"), ("\u{FEFF}{\"a\":true}", "true"),
            (#"{"é":0,"a":"ü"}"#, "\"ü\""),
        ])
    func value(text: String, expected: String) throws { #expect(try find(text, "a") == expected) }

    @Test(
        "What is not there is nil",
        arguments: ["{}", "[]", "7", #""a""#, #"{"b":{"a":1}}"#, #"{"A":1}"#, #"{"b":"a"}"#])
    func absent(text: String) throws { #expect(try find(text, "a") == nil) }

    @Test(
        "Keys lead into objects, several paths at a time, and into the first object of a name only",
        arguments: [
            (#"{"a":{"b":{"c":3}}}"#, "3"), (#"{"a":{"x":0,"b":{"c":[1]}}}"#, "[1]"),
            (#"{"a":{"b":3}}"#, nil),
            (#"{"a":[{"b":{"c":3}}]}"#, nil), (#"{"a":{},"a":{"b":{"c":3}}}"#, nil),
        ])
    func nested(text: String, expected: String?) throws {
        #expect(try find(text, "a", "b", "c") == expected)
        let bytes = Array(text.utf8)
        var outline = JSONOutline(bytes)
        let found = try outline.values(at: [["a", "b", "c"], [], ["a"]])
        #expect(found[0].map { String(decoding: bytes[$0], as: UTF8.self) } == expected)
        #expect(found[1] == 0..<bytes.count)
        #expect(found[2] != nil)
    }

    @Test(
        "What is no JSON is found out, and where",
        arguments: [
            ("", 0), ("{", 1), (#"{"a""#, 4), (#"{"a":"#, 5), (#"{"a":1"#, 6), (#"{"a":1,,}"#, 7),
            (#"{"a":1]"#, 6),
            (#"{"a":[1}}"#, 7), (#"{"a":1}}"#, 7), (#"{"a" 1}"#, 5), (#"{a:1}"#, 1), (#"{"a":"x"#, 7),
            (#"{"a":"x\"#, 8), ("nope!", 4), ("\u{0}", 0), (#"{"a":1} x"#, 8), ("]", 0), (",", 0),
        ])
    func flaws(text: String, offset: Int) {
        #expect(throws: JSONOutline.Flaw(offset: offset)) { try find(text, "a") }
    }

    @Test("Brackets nest as deep as JSONDecoder takes them")
    func depth() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try find(nested(JSONOutline.depthLimit)) == nested(JSONOutline.depthLimit))
        #expect(throws: JSONOutline.Flaw.self) { try find(nested(JSONOutline.depthLimit + 1)) }
    }

    @Test(
        "Where JSONDecoder reads a document, the outline finds the same; mutations never trap",
        arguments: 1...4)
    func mutations(seed: UInt64) throws {
        var random = SeededRandom(seed)
        let document = Array(
            #"{"x": [1, {"y": "\u00e9\""}], "a": {"b": -0.5e1}, "z": null, "é": [[], true]}"#.utf8)
        for _ in 0..<300 {
            let bytes = document.mutated(by: &random)
            var outline = JSONOutline(bytes)
            let found = try? outline.values(at: [["a", "b"]])
            guard let tree = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)) else { continue }
            let place = try #require(found, "\(bytes)")[0]
            let value = try place.map { try JSONDecoder().decode(JSONValue.self, from: Data(bytes[$0])) }
            #expect(value == tree["a"]?["b"])
        }
    }
}
