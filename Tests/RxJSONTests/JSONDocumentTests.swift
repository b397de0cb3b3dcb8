import FoundationEssentials
import RxTesting
import Testing

@testable import RxJSON

/// Whole documents are decoded as by `JSONDecoder`, and no bytes trap.
@Suite struct JSONDocumentTests {
    /// A matching document takes the quick way and gives the decoder's value.
    @Test func shop() {
        let comparison = JSONComparison(Shop.self, Shop.document)
        #expect(comparison.agrees)
        #expect(comparison.isQuick)
        #expect((try? comparison.outcome.get())?.goods.last?.title == "日本 sencha")
    }

    /// Enums with associated values, and values that match no case.
    @Test(arguments: [
        #"{"street":{"name":"a","number":1}}"#, #"{"stall":{"_0":3}}"#, #"{"stall":{"_0":3,"_1":true}}"#,
        #"{"online":{}}"#, #"{"online":null}"#, #"{}"#, #"{"other":{}}"#,
        #"{"online":{},"stall":{"_0":1}}"#,
        #"{"street":{"name":"a"}}"#, "[]", "null", #""online""#, #"{"street":[]}"#,
    ])
    func enums(text: String) {
        #expect(JSONComparison(Shop.Place.self, text).agrees)
        #expect(JSONComparison([Caught<Shop.Place>].self, "[\(text)]").agrees)
    }

    /// Whitespace, byte order marks, other encodings, trailing commas and invalid documents.
    @Test(arguments: [
        "", " ", "\n\t\r 1 \n\t\r", "\u{FEFF}[1]", "\u{FEFF}", "[1,]", "[1,,]", "[,]", "[,1]", "[1 2]",
        "[1", "[", "]",
        "{", "}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{"a":1,,}"#, #"{,}"#, #"{"a" 1}"#,
        #"{"a":1 "b":2}"#,
        #"{a:1}"#, #"{1:1}"#, "[1]]", "[1] x", "[1]\u{0}", "[}", "{]", "[1}", #"{"a":1]"#, "// c\n[1]",
        "[1]//",
        "[\u{A0}1]", "[\u{B}1]", "[1\u{C}]", "[[],{},[[]],[{}],{\"a\":{}}]", "  [ [ ] , { } ]  ",
        "[1,\n2\t]",
        #"{"a":[{"b":[]}],"c":"}"}"#, "[1],", ",", ":", #""a":1"#, #"{"a":1}{"b":2}"#, "[true false]",
        "[nul]",
        "[truefalse]", "[1true]", "\"a\"\"b\"",
    ])
    func forms(text: String) {
        #expect(JSONComparison(Guess.self, text).agrees)
        #expect(JSONComparison(Anything.self, text).agrees)
        #expect(JSONComparison([Int].self, text).agrees)
        #expect(JSONComparison([String: Int].self, text).agrees)
    }

    /// UTF-16 and UTF-32 are left to the decoder.
    @Test func encodings() throws {
        for text in ["[1]", "7", "{\"é\":1}", "\"\""] {
            for encoding: String.Encoding in [
                .utf8, .utf16, .utf16BigEndian, .utf16LittleEndian, .utf32, .utf32BigEndian,
                .utf32LittleEndian,
            ] {
                let bytes = [UInt8](try #require(text.data(using: encoding)))
                let comparison = JSONComparison(Guess.self, bytes)
                #expect(comparison.agrees, "\(bytes)")
                #expect(comparison.isQuick == (encoding == .utf8))
            }
        }
        for bytes: [UInt8] in [
            [0x22, 0, 0x22, 0], [0x22, 0, 0, 0], [0, 0x31], [0x31, 0], [0x31, 0, 0, 0], [0, 0, 0, 0x31],
            [0xFE, 0xFF, 0, 0x31], [0xFF, 0xFE, 0x31, 0], [0xEF, 0xBB, 0xBF, 0x31], [0xEF, 0xBB, 0xBF],
            [0xEF, 0xBB],
            [0x22, 0, 0x61, 0x22], [0],
        ] {
            #expect(JSONComparison(Guess.self, bytes).agrees, "\(bytes)")
            #expect(JSONComparison(Anything.self, bytes).agrees, "\(bytes)")
        }
    }

    /// The nesting limit is the decoder's.
    @Test(arguments: [1, 510, 511, 512, 513, 600])
    func depth(depth: Int) {
        for (opener, closer) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
            for core in ["1", opener + (opener == "[" ? "" : "1") + closer] {
                let text =
                    String(repeating: opener, count: depth) + core + String(repeating: closer, count: depth)
                #expect(JSONComparison(Anything.self, text).agrees)
            }
        }
        let open = String(repeating: "[", count: depth), close = String(repeating: "]", count: depth)
        #expect(JSONComparison(Anything.self, open + " ").agrees)
        #expect(JSONComparison(Anything.self, open + close).isQuick == (depth <= JSONTape.depthLimit))
    }

    /// A document that ends where it is nested too deep is an error, with every option.
    @Test(arguments: [1, 512, 513, 514])
    func endlessDepth(depth: Int) throws {
        let text = String(repeating: "[", count: depth)
        let json5 = JSONDecoder(), converting = JSONDecoder()
        json5.allowsJSON5 = true
        converting.keyDecodingStrategy = .convertFromSnakeCase
        for decoder in [JSONDecoder(), json5, converting] {
            for encoding: String.Encoding in [.utf8, .utf16BigEndian, .utf16LittleEndian] {
                let bytes = [UInt8](try #require(text.data(using: encoding)))
                let error = #expect(throws: DecodingError.self) {
                    try decoder.decode(Anything.self, quicklyFrom: bytes)
                }
                // With whitespace after it, the decoder reports its own error.
                let blank = [UInt8](try #require(" ".data(using: encoding)))
                let own = #expect(throws: DecodingError.self) {
                    try decoder.decode(Anything.self, from: Data(bytes + blank))
                }
                #expect(error.map { "\($0)" } == own.map { "\($0)" })
            }
        }
        #expect(try json5.decode(Int.self, quicklyFrom: Array("7 // [".utf8)) == 7)
    }

    /// Random documents, and random changes of them, directly and by trial.
    @Test(arguments: 1...3)
    func random(seed: UInt64) {
        var random = SeededRandom(seed)
        for _ in 0..<60 {
            let text = RandomJSON.text(&random)
            let guess = JSONComparison(Guess.self, text)
            #expect(guess.agrees, "\(text)")
            for _ in 0..<4 {
                let bytes = Array(text.utf8).mutated(by: &random)
                #expect(JSONComparison(Guess.self, bytes).agrees, "\(bytes)")
                let anything = JSONComparison(Anything.self, bytes)
                #expect(anything.agrees, "\(bytes)")
                // Apart from other encodings, the scanner accepts exactly what the decoder's accepts.
                if (try? anything.expected.get()) != nil, !bytes.prefix(4).contains(0) {
                    #expect(anything.isQuick, "\(bytes)")
                }
            }
        }
    }

    /// Random changes of a document that matches its type.
    @Test(arguments: 1...3)
    func mutations(seed: UInt64) {
        var random = SeededRandom(seed)
        let document = Array(Shop.document.utf8)
        let alphabet = Array(#"{}[]",:\/ue0123456789.-+EtrufalsnN "#.utf8) + [0x0A, 0, 0xC3, 0xA9, 0xFF]
        for round in 0..<100 {
            let bytes =
                round % 2 == 0
                ? document.mutated(by: &random) : document.mutated(by: &random, alphabet: alphabet)
            #expect(JSONComparison(Shop.self, bytes).agrees, "\(String(decoding: bytes, as: UTF8.self))")
            #expect(JSONComparison(Guess.self, bytes).agrees, "\(String(decoding: bytes, as: UTF8.self))")
        }
    }

    /// Every prefix of a document, and random bytes.
    @Test func truncations() {
        let document = Array(Shop.document.utf8)
        for count in document.indices {
            #expect(JSONComparison(Anything.self, Array(document.prefix(count))).agrees)
        }
        for byte in UInt8.min...UInt8.max {
            #expect(JSONComparison(Guess.self, [byte]).agrees, "\(byte)")
            #expect(JSONComparison(Guess.self, [0x5B, byte, 0x5D]).agrees, "\(byte)")
            #expect(JSONComparison(Guess.self, [0x5B, 0x22, byte, 0x22, 0x5D]).agrees, "\(byte)")
            #expect(JSONComparison(Guess.self, [0x5B, 0x22, 0x5C, byte, 0x22, 0x5D]).agrees, "\(byte)")
        }
    }

    /// The tape of a dense document grows.
    @Test func growth() {
        let text = "[" + Array(repeating: "[],{},1", count: 5000).joined(separator: ",") + "]"
        let comparison = JSONComparison(Guess.self, text)
        #expect(comparison.agrees)
        #expect(comparison.isQuick)
    }
}
