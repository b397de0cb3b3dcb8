import FoundationEssentials
import RxTesting
import Testing

@testable import RxJSON

/// Containers behave like those of `JSONDecoder`, including errors that types catch.
@Suite struct JSONContainerTests {
    /// Records all results, errors literally.
    private final class Notes: Equatable {
        private var lines: [String] = []

        static func == (first: Notes, second: Notes) -> Bool { first.lines == second.lines }

        func note(_ action: () throws -> Any) {
            do { lines.append("\(try action())") } catch { lines.append("\(error)") }
        }

        func note(_ keys: [any CodingKey]) {
            lines.append(keys.map { "\($0) \($0.stringValue) \($0.intValue as Any)" }.joined(separator: "/"))
        }
    }

    /// Calls every function of a decoder and its containers.
    private struct Questions: Decodable, Equatable {
        private let notes = Notes()

        private enum Key: String, CodingKey { case a, b, list, none, `super` }

        init(from decoder: any Decoder) throws {
            notes.note(decoder.codingPath)
            try ask(decoder.singleValueContainer())
            notes.note { try ask(decoder.container(keyedBy: Key.self)) }
            notes.note { try ask(decoder.unkeyedContainer()) }
            // A container that is requested twice starts anew.
            notes.note { try ask(decoder.unkeyedContainer()) }
        }

        private func ask(_ container: any SingleValueDecodingContainer) {
            notes.note(container.codingPath)
            notes.note { container.decodeNil() }
            notes.note { try container.decode(Bool.self) }
            notes.note { try container.decode(String.self) }
            notes.note { try container.decode(Int.self) }
            notes.note { try container.decode(UInt8.self) }
            notes.note { try container.decode(Double.self) }
            notes.note { try container.decode(Float.self) }
            notes.note { try container.decode([Int].self) }
            notes.note { try container.decode([String].self) }
            notes.note { try container.decode(Place.self) }
            notes.note { try container.decode(URL?.self) as Any }
            notes.note { try container.decode(Date?.self) as Any }
            notes.note { try container.decode(Data?.self) as Any }
        }

        private func ask(_ container: KeyedDecodingContainer<Key>) throws {
            notes.note(container.codingPath)
            notes.note { container.allKeys.map(\.stringValue).sorted() }
            for key in [Key.a, .list, .none, .super] {
                notes.note { container.contains(key) }
                notes.note { try container.decodeNil(forKey: key) }
                notes.note { try container.decode(Bool.self, forKey: key) }
                notes.note { try container.decode(String.self, forKey: key) }
                notes.note { try container.decode(Int.self, forKey: key) }
                notes.note { try container.decode(UInt8.self, forKey: key) }
                notes.note { try container.decode(Double.self, forKey: key) }
                notes.note { try container.decode([String].self, forKey: key) }
                notes.note { try container.decode(Place.self, forKey: key) }
                notes.note { try container.decode(URL.self, forKey: key) }
                notes.note { try container.decodeIfPresent(Bool.self, forKey: key) as Any }
                notes.note { try container.decodeIfPresent(String.self, forKey: key) as Any }
                notes.note { try container.decodeIfPresent(Int16.self, forKey: key) as Any }
                notes.note { try container.decodeIfPresent(Float.self, forKey: key) as Any }
                notes.note { try container.decodeIfPresent(Place.self, forKey: key) as Any }
                notes.note { try container.superDecoder(forKey: key).codingPath.map(\.stringValue) }
                notes.note { try Place(from: container.superDecoder(forKey: key)) }
                notes.note { try container.superDecoder(forKey: key).singleValueContainer().decodeNil() }
                notes.note {
                    try container.nestedContainer(keyedBy: Key.self, forKey: key).allKeys.map(\.stringValue)
                        .sorted()
                }
                notes.note { try container.nestedContainer(keyedBy: Key.self, forKey: key).codingPath }
                notes.note {
                    try container.nestedContainer(keyedBy: Key.self, forKey: key).decode(
                        Place.self, forKey: .b)
                }
                notes.note {
                    var nested = try container.nestedUnkeyedContainer(forKey: key)
                    return (try nested.decode(Place.self), try nested.decode(Int.self), nested.codingPath)
                }
            }
            notes.note { try Place(from: container.superDecoder()) }
        }

        private func ask(_ container: any UnkeyedDecodingContainer) throws {
            var container = container
            notes.note(container.codingPath)
            notes.note { container.count as Any }
            for _ in 0..<8 {
                notes.note { (container.currentIndex, container.isAtEnd) }
                notes.note { try container.decodeNil() }
                notes.note { try container.decode(Bool.self) }
                notes.note { try container.decode(String.self) }
                notes.note { try container.decode(UInt8.self) }
                notes.note { try container.decode(Double.self) }
                notes.note { try container.decode([String].self) }
                notes.note { try container.decode(Place.self) }
                notes.note { try container.decode(Place.self) }
                notes.note {
                    var nested = try container.nestedUnkeyedContainer()
                    return (try nested.decode(Place.self), try nested.decode(Int.self), nested.codingPath)
                }
                notes.note { try container.nestedContainer(keyedBy: Key.self).decode(Place.self, forKey: .a) }
                notes.note { try container.decodeIfPresent(Int.self) as Any }
                notes.note { try container.decodeIfPresent(Bool.self) as Any }
                notes.note { try container.decodeIfPresent(Place.self) as Any }
                notes.note { try Place(from: container.superDecoder()) }
            }
        }
    }

    /// The coding path of the value.
    private struct Place: Decodable, Equatable {
        let keys: [String]

        init(from decoder: any Decoder) throws {
            keys = decoder.codingPath.map { "\($0) \($0.stringValue) \($0.intValue as Any)" }
        }
    }

    /// All calls give the decoder's results.
    @Test(arguments: [
        "{}", "[]", "null", "true", #""a""#, "7", "1.5", "300", #"{"a":1}"#, #"{"a":null,"super":null}"#,
        #"{"a":"x","list":[1,2],"super":{"b":1}}"#, #"{"a":{"b":[]},"list":[[1],{"a":2}]}"#,
        #"{"a":true,"A":1,"a":2,"list":["x"]}"#, #"[1,2,3]"#, "[null,null]",
        #"[true,"x",1,1.5,[1,2],{"a":1},null]"#,
        "[[1,2],[3,4],[5,6]]", #"[{"a":1},{"a":2},{"a":3},{"b":1}]"#, #"["x",["y"],{"a":[]},null,7]"#,
        "[[[[1]]]]", #"["a","b"]"#, "[1.5,1,2.5,2]",
    ])
    func questions(text: String) throws {
        for document in [text, "[\(text),\(text)]"] {
            #expect(JSONComparison(Questions.self, document).agrees, "\(document)")
            #expect(JSONComparison([Questions].self, document).agrees, "\(document)")
            #expect(JSONComparison([String: Questions].self, "{\"k\":\(document)}").agrees, "\(document)")
        }
    }

    private class Base: Decodable, Equatable {
        let id: Int

        static func == (first: Base, second: Base) -> Bool { first.id == second.id }
    }

    private final class Derived: Base {
        let name: String, inherited: [String]

        private enum Key: CodingKey { case name, base }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            name = try container.decode(String.self, forKey: .name)
            let parent =
                try container.contains(.base)
                ? container.superDecoder(forKey: .base) : container.superDecoder()
            inherited = parent.codingPath.map(\.stringValue)
            try super.init(from: parent)
        }
    }

    /// A class decodes its superclass.
    @Test(arguments: [
        (#"{"name":"a","super":{"id":1}}"#, true), (#"{"name":"a","base":{"id":1}}"#, true),
        (#"{"name":"a"}"#, false), (#"{"name":"a","super":null}"#, false),
        (#"{"name":"a","super":{}}"#, false),
    ])
    func classes(text: String, fits: Bool) {
        let comparison = JSONComparison(Derived.self, text)
        #expect(comparison.agrees)
        #expect(comparison.isQuick == fits)
    }

    /// Decodes only on demand, from containers and a decoder that it has stored.
    private final class Late: Decodable, Equatable {
        private let container: KeyedDecodingContainer<Key>, decoder: any Decoder
        private var list: any UnkeyedDecodingContainer

        private enum Key: CodingKey { case text, list }

        init(from decoder: any Decoder) throws {
            self.decoder = decoder
            container = try decoder.container(keyedBy: Key.self)
            list = try container.nestedUnkeyedContainer(forKey: .list)
        }

        var answers: [String] {
            let text = try? container.decode(String.self, forKey: .text)
            let first = try? list.decode(String.self), path = list.codingPath.map(\.stringValue)
            return [text, first, path.joined(separator: "/")].map { $0 ?? "none" }
        }

        static func == (first: Late, second: Late) -> Bool { first.answers == second.answers }
    }

    private static func lateDocument(_ number: Int) -> [UInt8] {
        Array(
            #"[{"text":"a long text, number \#(number)","list":["x\#(number)"]},{"text":"b","list":["y"]}]"#
                .utf8)
    }

    private static func lateAnswers(_ number: Int) -> [[String]] {
        [["a long text, number \(number)", "x\(number)", "Index 0/list"], ["b", "y", "Index 1/list"]]
    }

    /// Stored containers are the decoder's own.
    @Test func kept() throws {
        let decoder = JSONDecoder()
        let late = try (1...3).map { try decoder.decode([Late].self, quicklyFrom: Self.lateDocument($0)) }
        #expect(late.map { $0.map(\.answers) } == (1...3).map(Self.lateAnswers))
        #expect(!JSONComparison([Late].self, Self.lateDocument(1)).isQuick)
    }

    /// A place where types store what they should not keep.
    private final class Attic: @unchecked Sendable {
        // Unchecked: used by one test on one thread.
        var late: [Late] = []

        static let key = CodingUserInfoKey(rawValue: "attic")!
    }

    private struct Tenant: Decodable, Equatable {
        init(from decoder: any Decoder) throws {
            let attic = decoder.userInfo[Attic.key] as? Attic
            attic?.late.append(try Late(from: decoder))
        }
    }

    /// Containers of an abandoned attempt remain usable after the document is gone, each with its own path.
    @Test func leftBehind() throws {
        let decoder = JSONDecoder(), attic = Attic()
        decoder.userInfo[Attic.key] = attic
        for number in 1...3 {
            _ = try decoder.decode([Tenant].self, quicklyFrom: Self.lateDocument(number))
        }
        // Once the quick way, once the decoder's.
        let expected = (1...3).flatMap { Self.lateAnswers($0) + Self.lateAnswers($0) }
        #expect(attic.late.map(\.answers) == expected)
    }

    /// Decodes the matching elements of a list.
    private struct Lossy: Decodable, Equatable {
        var goods: [Goods] = []

        struct Goods: Decodable, Equatable { let id: Int, price: Double? }

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            while !container.isAtEnd {
                if let one = try? container.decode(Goods.self) {
                    goods.append(one)
                } else {
                    _ = try container.decode(Anything.self)
                }
            }
        }
    }

    /// A caught error does not prevent the quick way, if it is the decoder's error.
    @Test(arguments: [
        (#"[{"id":1},{"id":"x"},{},null,7,{"id":1.5},{"id":1e30},{"id":2,"price":3}]"#, true),
        (#"[{"id":01},{"id":1}]"#, false), (#"[{"id":1,"price":1e400},{"id":1}]"#, false),
        ("[{\"id\":\"\\uD83C\"},{\"id\":1}]", true), (#"[{"i\q":1},{"id":1}]"#, false),
    ])
    func caught(text: String, isQuick: Bool) {
        let comparison = JSONComparison(Lossy.self, text)
        #expect(comparison.agrees)
        #expect(comparison.isQuick == isQuick)
    }
}
