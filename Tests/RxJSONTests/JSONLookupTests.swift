import FoundationEssentials
import RxTesting
import Testing

@testable import RxJSON

/// Lookup of values in a document by their keys.
@Suite struct JSONLookupTests {
    private func find(_ text: String, _ paths: [String]...) throws -> [String?] {
        let bytes = Array(text.utf8), tape = try JSONPart(wholeOf: bytes).tape
        return tape.values(at: paths, in: bytes).map { place in
            place.map { String(decoding: bytes[tape.literal(of: $0)], as: UTF8.self) }
        }
    }

    /// A value is found by its key, between any others.
    @Test(arguments: [
        (#"{"a":1}"#, "1"), (#"{"a":1,}"#, "1"), (#" { "a" : 1 } "#, "1"),
        (#"{"b":[{"a":2}],"a":-1.5e3,"c":{}}"#, "-1.5e3"),
        (#"{"b":"\"a\":2,{","a":"x\\\"}"}"#, #""x\\\"}""#),
        (#"{"a":{"b":[1,{}]},"c":[[]]}"#, #"{"b":[1,{}]}"#),
        (#"{"\u0061":null}"#, "null"), (#"{"a":1,"a":2}"#, "1"), ("\u{FEFF}{\"a\":true}", "true"),
        (#"{"é":0,"a":"ü"}"#, "\"ü\""), (#"{"a\n":0,"\q":1,"a":2}"#, "2"),
    ])
    func value(text: String, expected: String) throws { #expect(try find(text, ["a"]) == [expected]) }

    /// A missing value is nil.
    @Test(arguments: ["{}", "[]", "7", #""a""#, #"{"b":{"a":1}}"#, #"{"A":1}"#, #"{"b":"a"}"#])
    func absent(text: String) throws { #expect(try find(text, ["a"]) == [nil]) }

    /// Keys lead into objects, several paths at a time, and only into the first object of a name.
    @Test(arguments: [
        (#"{"a":{"b":{"c":3}}}"#, "3"), (#"{"a":{"x":0,"b":{"c":[1]}}}"#, "[1]"),
        (#"{"a":{"b":3}}"#, nil),
        (#"{"a":[{"b":{"c":3}}]}"#, nil), (#"{"a":{},"a":{"b":{"c":3}}}"#, nil),
    ])
    func nested(text: String, expected: String?) throws {
        let found = try find(text, ["a", "b", "c"], [], ["a"])
        #expect(found[0] == expected)
        #expect(found[1] == text)
        #expect(found[2] != nil)
    }

    /// Invalid JSON is detected, with its position.
    @Test(arguments: [
        ("", 0), ("{", 1), (#"{"a""#, 4), (#"{"a":"#, 5), (#"{"a":1"#, 6), (#"{"a":1,,}"#, 7),
        (#"{"a":1]"#, 6),
        (#"{"a":[1}}"#, 7), (#"{"a":1}}"#, 7), (#"{"a" 1}"#, 5), (#"{a:1}"#, 1), (#"{"a":"x"#, 7),
        (#"{"a":"x\"#, 8), ("nope!", 1), ("\u{0}", 0), (#"{"a":1} x"#, 8), ("]", 0), (",", 0),
    ])
    func flaws(text: String, offset: Int) {
        #expect(throws: JSONFlaw(offset: offset)) { try find(text) }
    }

    /// Documents that the decoder accepts give the same values; mutations never trap.
    @Test(arguments: 1...4)
    func mutations(seed: UInt64) throws {
        var random = SeededRandom(seed)
        let document = Array(
            #"{"x": [1, {"y": "\u00e9\""}], "a": {"b": -0.5e1}, "z": null, "é": [[], true]}"#.utf8)
        for _ in 0..<300 {
            let bytes = document.mutated(by: &random)
            let whole = try? JSONPart(wholeOf: bytes)
            let decoder = JSONDecoder()
            guard let tree = try? decoder.decode(Guess.self, from: Data(bytes)) else { continue }
            let tape = try #require(whole, "\(bytes)").tape
            let place = tape.values(at: [["a", "b"]], in: bytes)[0]
            let value = try place.map {
                try decoder.decode(Guess.self, from: Data(bytes[tape.literal(of: $0)]))
            }
            #expect(value == tree["a"]?["b"], "\(bytes)")
        }
    }
}

extension Guess {
    fileprivate subscript(key: String) -> Guess? {
        if case .members(let members) = self { members[key] } else { nil }
    }
}
