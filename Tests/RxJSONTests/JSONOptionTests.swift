import FoundationEssentials
import Testing

@testable import RxJSON

/// The decoder's options apply, by the quick way or by leaving the document to the decoder.
@Suite struct JSONOptionTests {
    private struct Order: Decodable, Equatable {
        let placedAt: Date, picture: Data?, url: URL?, amount: Decimal?, dates: [Date]?,
            byName: [String: Date]?
    }

    private static let documents = [
        #"{"placedAt":1700000000.5,"picture":"AQID","url":"https://a.test/x?y=1#z","amount":12,"dates":[0,-1,1e3]}"#,
        #"{"placedAt":"2024-01-02T03:04:05Z","picture":"YQ==","url":"a b","byName":{"x":"2024-01-02T03:04:05Z"}}"#,
        #"{"placedAt":"2024-01-02T03:04:05.123Z"}"#, #"{"placedAt":"yesterday"}"#, #"{"placedAt":null}"#,
        "{}",
        #"{"placedAt":[1]}"#, #"{"placedAt":1,"picture":"YQ"}"#, #"{"placedAt":1,"picture":"Y Q = ="}"#,
        #"{"placedAt":1,"picture":""}"#, #"{"placedAt":1,"picture":"\u0059Q=="}"#,
        #"{"placedAt":1,"picture":[97,98]}"#,
        #"{"placedAt":1,"picture":7}"#, #"{"placedAt":1,"url":""}"#, #"{"placedAt":1,"url":"http://[::1"}"#,
        #"{"placedAt":1,"url":"https://a.test/\u00e9 é"}"#, #"{"placedAt":1,"url":7}"#,
        #"{"placedAt":1,"amount":1.50}"#,
        #"{"placedAt":1,"amount":0.1}"#, #"{"placedAt":1,"amount":-9223372036854775808}"#,
        #"{"placedAt":1,"amount":18446744073709551616}"#, #"{"placedAt":1,"amount":"1"}"#,
        #"{"placedAt":1,"amount":1e5}"#,
        #"{"placed_at":1,"by_name":{"a_b":2}}"#, #"{"placedAt":"Infinity"}"#,
        #"{"placedAt":"\u0049nf","dates":["Inf"]}"#,
        #"{placedAt:1, // note\#n}"#, #""placedAt":1"#, #"{"placedAt":"never"}"#,
        #"{"placedAt":{"seconds":5}}"#,
    ]

    private struct Moment: Decodable { let seconds: Double }

    private static let options: [(String, @Sendable (JSONDecoder) -> Void, isQuick: Bool)] = [
        ("none", { _ in }, true),
        ("seconds", { $0.dateDecodingStrategy = .secondsSince1970 }, true),
        ("milliseconds", { $0.dateDecodingStrategy = .millisecondsSince1970 }, true),
        ("iso8601", { $0.dateDecodingStrategy = .iso8601 }, false),
        (
            "custom dates",
            {
                $0.dateDecodingStrategy = .custom { decoder in
                    if let moment = try? Moment(from: decoder) {
                        return Date(timeIntervalSince1970: moment.seconds)
                    }
                    let path = decoder.codingPath.map(\.stringValue).joined()
                    let text = (try? decoder.singleValueContainer().decode(String.self)) ?? path
                    guard text != "never" else { throw CancellationError() }
                    return Date(timeIntervalSince1970: Double(text.utf8.count))
                }
            }, true
        ),
        ("deferred data", { $0.dataDecodingStrategy = .deferredToData }, false),
        (
            "custom data",
            {
                $0.dataDecodingStrategy = .custom { decoder in
                    Data(decoder.codingPath.map(\.stringValue).joined(separator: "/").utf8)
                }
            }, true
        ),
        (
            "names of non-numeric values",
            {
                $0.nonConformingFloatDecodingStrategy = .convertFromString(
                    positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "Inf")
            }, true
        ),
        ("snake case", { $0.keyDecodingStrategy = .convertFromSnakeCase }, true),
        (
            "custom keys",
            { $0.keyDecodingStrategy = .custom { JSONKey.name(($0.last?.stringValue ?? "").lowercased()) } },
            false
        ),
        ("JSON5", { $0.allowsJSON5 = true }, false),
        ("a dictionary at the top", { $0.assumesTopLevelDictionary = true }, false),
        ("user info", { $0.userInfo = [CodingUserInfoKey(rawValue: "x")!: 1] }, true),
    ]

    /// With every option all results are the decoder's.
    @Test(arguments: options.indices)
    func outcomes(option: Int) {
        let decoder = JSONDecoder()
        Self.options[option].1(decoder)
        for document in Self.documents {
            #expect(
                JSONComparison(Order.self, document, by: decoder).agrees,
                "\(Self.options[option].0): \(document)")
            #expect(JSONComparison([Caught<Order>].self, "[\(document)]", by: decoder).agrees, "\(document)")
            #expect(JSONComparison([Double].self, #"[1,"Infinity"]"#, by: decoder).agrees)
            #expect(JSONComparison(Array<Float?>.self, #"["-Infinity",null]"#, by: decoder).agrees)
            #expect(JSONComparison([Caught<Double>].self, #"["Infinity","x"]"#, by: decoder).agrees)
        }
    }

    /// A document that the options do not affect takes the quick way.
    @Test(arguments: options.indices)
    func quick(option: Int) throws {
        let decoder = JSONDecoder()
        Self.options[option].1(decoder)
        let whole = try JSONPart(wholeOf: Array(Self.documents[0].utf8))
        let quick = try? JSONDocument.decode(
            Order.self, at: whole, of: Array(Self.documents[0].utf8), options: decoder, userInfo: [:])
        #expect((quick != nil && decoder.hasQuickWay(decoder.userInfo)) == Self.options[option].isQuick)
    }

    private struct Told: Decodable, Equatable {
        let word: String

        init(from decoder: any Decoder) throws {
            word = decoder.userInfo[CodingUserInfoKey(rawValue: "word")!] as? String ?? "none"
        }
    }

    /// Types see the decoder's user info.
    @Test func userInfo() throws {
        let decoder = JSONDecoder()
        decoder.userInfo[try #require(CodingUserInfoKey(rawValue: "word"))] = "tea"
        let comparison = JSONComparison([String: [Told]].self, #"{"a":[{},7]}"#, by: decoder)
        #expect(comparison.agrees)
        #expect(try comparison.quick.get()["a"]?.map(\.word) == ["tea", "tea"])
    }

    private final class Upper: JSONDecoder, @unchecked Sendable {
        override func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
            try super.decode(type, from: Data(String(decoding: data, as: UTF8.self).uppercased().utf8))
        }
    }

    /// A subclass of the decoder decodes by itself.
    @Test func subclass() throws {
        #expect(try Upper().decode([String].self, quicklyFrom: Array(#"["tea"]"#.utf8)) == ["TEA"])
    }

    /// A part of a document is decoded from the document's tape, and slowly from its bytes.
    @Test func parts() throws {
        let bytes = Array(#"{"x":[1,"a"],"y":{"z":[1,2]},"w":"a\nb"}"#.utf8)
        let whole = try JSONPart(wholeOf: bytes)
        let found = whole.tape.values(at: [["y", "z"], ["x"], ["w"], ["none"]], in: bytes)
        let decoder = JSONDecoder()
        let parts = found.map { $0.map { JSONPart(whole.tape, at: $0) } }
        #expect(try decoder.decode([Int].self, quicklyFrom: bytes, at: parts[0]) == [1, 2])
        #expect(try decoder.decode(String.self, quicklyFrom: bytes, at: parts[2]) == "a\nb")
        #expect(parts[3] == nil)
        let error: (any Error)? = #expect(throws: DecodingError.self) {
            try decoder.decode([Int].self, quicklyFrom: bytes, at: parts[1])
        }
        guard case .typeMismatch(_, let context) = error as? DecodingError else {
            throw error ?? CancellationError()
        }
        #expect(context.codingPath.map(\.intValue) == [1])
    }
}
