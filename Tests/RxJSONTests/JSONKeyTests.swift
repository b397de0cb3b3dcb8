import FoundationEssentials
import Testing

@testable import RxJSON

/// Keys are found as `JSONDecoder` finds them.
@Suite struct JSONKeyTests {
    private struct Keys: Decodable, Equatable {
        let found: [String]

        private enum Key: String, CodingKey, CaseIterable {
            case a, b, ab, empty = "", accented = "é", decomposed = "e\u{301}", kelvin = "K", semicolon = ";"
            case quote = "\"", newline = "\n", long = "a key of more than fifteen bytes", twelve = "k12"
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            found =
                try Key.allCases.map { key in
                    "\(key) \(container.contains(key)) \(try container.decodeIfPresent(Int.self, forKey: key) as Any)"
                } + container.allKeys.map(\.rawValue).sorted()
        }
    }

    private static let many = (0..<40).map { #""k\#($0)":\#($0)"# }.joined(separator: ",")

    /// The first of equal keys counts, and keys are equal as texts.
    @Test(arguments: [
        ("{}"), (#"{"a":1,"b":2,"ab":3}"#), (#"{"a":1,"a":2}"#), (#"{"b":0,"a":1,"b":2,"a":3}"#),
        (#"{"\u0061":1,"a":2}"#), (#"{"a":1,"\u0061":2}"#), (#"{"é":1,"e\u0301":2}"#),
        (#"{"e\u0301":1,"é":2}"#),
        ("{\"e\u{301}\":1}"), ("{\"\u{212A}\":1}"), ("{\"K\":1,\"\u{212A}\":2}"), ("{\"\u{37E}\":1}"),
        (#"{"":1}"#), (#"{"\"":1}"#), (#"{"\n":1}"#), (#"{"a key of more than fifteen bytes":1}"#),
        (#"{"a key of more than fifteen bytez":1}"#), (#"{"A":1}"#), (#"{"a ":1}"#),
        (#"{"x":{"a":9},"a":1}"#), (#"{"x":[{"a":9}],"y":"a","a":1}"#), (#"{"a":null}"#),
        ("{\(many)}"), ("{\(many),\"a\":1,\"k12\":0}"), ("{\"a\":5,\(many),\"a\":1}"),
        ("{\"é\":5,\(many),\"a\":1}"),
    ])
    func keys(text: String) {
        let comparison = JSONComparison(Keys.self, text)
        #expect(comparison.agrees)
        #expect(comparison.isQuick)
        #expect(JSONComparison(Dictionary<String, Int?>.self, text).agrees)
        #expect(JSONComparison([String: Guess].self, text).agrees)
    }

    private struct Signs: Decodable, Equatable {
        let kelvin: Int?, both: Bool

        private enum Key: String, CodingKey { case kelvin = "\u{212A}", question = "\u{37E}" }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            kelvin = try container.decodeIfPresent(Int.self, forKey: .kelvin)
            both = container.contains(.kelvin) && container.contains(.question)
        }
    }

    /// A type's key equals an ASCII key of the document canonically.
    @Test(arguments: [
        #"{"K":1}"#, #"{"k":1}"#, #"{"a":0,"K":1,";":2}"#, #"{"\u212A":1,"K":2}"#, "{}",
        "{\(many),\"K\":1}",
    ])
    func canonicalKeys(text: String) throws {
        let comparison = JSONComparison(Signs.self, text)
        #expect(comparison.agrees)
        #expect(comparison.isQuick)
        let bytes = Array(text.utf8), tape = try JSONPart(wholeOf: bytes).tape
        #expect((tape.values(at: [["\u{212A}"]], in: bytes)[0] != nil) == text.contains(/K|212A/))
    }

    /// A key that is not valid text is an error where the object is opened, and only there.
    @Test func invalidKeys() {
        for text in [#"{"\q":1,"a":2}"#, #"{"a":{"\q":1}}"#, #"{"a":1,"\ud83c":2}"#] {
            #expect(JSONComparison(Keys.self, text).agrees)
            #expect(JSONComparison([String: Anything].self, text).agrees)
            #expect(JSONComparison(Anything.self, text).agrees)
        }
        #expect(JSONComparison([String: Anything].self, #"{"a":{"\q":1}}"#).isQuick)
    }

    private struct Camel: Decodable, Equatable {
        let found: [String], nested: [String: [String: Int]]?, optional: [String: Camel]?,
            numbered: [Int: Int]?

        private enum Key: String, CodingKey { case theNested, optional, numberedKeys }

        init(from decoder: any Decoder) throws {
            let names = try decoder.container(keyedBy: JSONKey.self)
            found = names.allKeys.map(\.stringValue).sorted()
            let container = try decoder.container(keyedBy: Key.self)
            nested = try container.decodeIfPresent([String: [String: Int]].self, forKey: .theNested)
            optional = try container.decodeIfPresent([String: Camel]?.self, forKey: .optional) ?? nil
            numbered = try container.decodeIfPresent([Int: Int].self, forKey: .numberedKeys)
        }
    }

    /// Keys are converted from snake case like the decoder's, and those of dictionaries are not.
    @Test(arguments: [
        "a", "a_b", "a_b_c", "_a", "a_", "__a__b__", "_", "__", "", "aB_cD", "A_B", "URL_path", "the_url",
        "x_2fa_y",
        "2fa_x", "a-b_c-d", "o'neil_o'neil", "é_ü", "straße_ß", "ﬁ_ﬁ", "a\u{301}_b\u{301}", "a_\u{301}b",
        "İ_i",
        "a b_c d", "a.b_c.d", "a__b", "日本_茶", "A", "aA_", #"k_\u00e9"#, #"\u005fa_b"#, #"a_\uD83C"#,
        "x_\u{1F375}y",
    ])
    func snakeCase(key: String) {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        for text in [
            #"{"\#(key)":1,"optional":null}"#, #"{"optional":{"\#(key)":{"optional":null,"\#(key)":{}}}}"#,
            #"{"the_nested":{"\#(key)":{"\#(key)":1,"a_b":2,"a_b":3}},"optional":null,"theNested":4}"#,
            #"{"numbered_keys":{"1":2},"optional":{"a_b":7}}"#, #"{"the_nested":7,"optional":null}"#,
            #"{"the_nested":{"a_b":null},"optional":null}"#, #"{"\#(key)":1,"optional":null,"a_b":1,"aB":2}"#,
        ] {
            #expect(JSONComparison(Camel.self, text, by: decoder).agrees, "\(text)")
            #expect(JSONComparison([Caught<Camel>].self, "[\(text)]", by: decoder).agrees, "\(text)")
            #expect(JSONComparison([String: Guess].self, text, by: decoder).agrees, "\(text)")
        }
        let plain = #"{"\#(key)":1,"optional":null}"#
        #expect(JSONComparison(Camel.self, plain, by: decoder).isQuick != plain.contains("uD83C"))
    }

    private struct Entries: Decodable, Equatable {
        var order: [String]

        init(from decoder: any Decoder) throws {
            order = try decoder.container(keyedBy: JSONKey.self).allKeys.map(\.stringValue)
        }
    }

    /// All keys come in the order of the document, each once.
    @Test func order() throws {
        for extra in ["", ",\"é\":0", "," + Self.many] {
            let text = #"{"z":1,"a":2,"z":3,"m":4\#(extra)}"#
            let entries = try JSONDecoder().decode(Entries.self, quicklyFrom: Array(text.utf8))
            #expect(entries.order.prefix(3) == ["z", "a", "m"])
            #expect(Set(entries.order).count == entries.order.count)
        }
    }
}
