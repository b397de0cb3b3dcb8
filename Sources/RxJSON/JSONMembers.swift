import FoundationEssentials

extension JSONDocument {
    /// Up to this many members, keys are searched linearly.
    private static let searchLimit = 16

    /// The nodes of the values of an object's members, if a linear search does not suffice. The first of
    /// several members with the same key counts (RFC 8259 §4).
    ///
    /// Keys are the same if they are equal as `String`; comparing bytes suffices only if both are ASCII.
    func members(of node: Int) throws -> [String: Int]? {
        let count = count(of: node)
        guard convertsKeys || count > Self.searchLimit || kind(at: node) == .mixedObject else { return nil }
        var members: [String: Int] = [:]
        members.reserveCapacity(count)
        var key = content(of: node)
        for _ in 0..<count {
            // A key that is not valid text is an error, even if it is never read.
            guard let name = name(at: key) else { throw giveUp() }
            if members[name] == nil { members[name] = key + 1 }
            key = next(after: key + 1)
        }
        return members
    }

    /// The node of a key's value in an object whose keys are all ASCII.
    func value(of name: String, in node: Int) -> Int? {
        var name = name
        return name.withUTF8 { wanted in
            var key = content(of: node)
            for _ in 0..<count(of: node) {
                let word = self[key]
                if word.length == wanted.count, unsafe starts(at: word.offset, with: wanted) {
                    return key + 1
                }
                key = next(after: key + 1)
            }
            return nil
        } ?? (name.utf8.allSatisfy { $0 < 0x80 } ? nil : equalValue(of: name, in: node))
    }

    /// The node of the value whose key is equal as text: "\u{212A}", the sign of kelvin, equals "K".
    private func equalValue(of name: String, in node: Int) -> Int? {
        var key = content(of: node)
        for _ in 0..<count(of: node) {
            if text(at: key) == name { return key + 1 }
            key = next(after: key + 1)
        }
        return nil
    }

    /// - Parameter wanted: no longer than the text at `offset`.
    @inline(__always)
    private func starts(at offset: Int, with wanted: UnsafeBufferPointer<UInt8>) -> Bool {
        let found = unsafe bytes + offset
        for index in wanted.indices where unsafe found[index] != wanted[index] { return false }
        return true
    }

    /// The keys of an object in document order, each once.
    func keys(of node: Int, _ members: [String: Int]?) -> [String] {
        var keys: [String] = []
        var key = content(of: node)
        for _ in 0..<count(of: node) {
            if let name = name(at: key), (members.map { $0[name] } ?? value(of: name, in: node)) == key + 1 {
                keys.append(name)
            }
            key = next(after: key + 1)
        }
        return keys
    }
}

/// `JSONDecoder.KeyDecodingStrategy.convertFromSnakeCase`.
extension JSONDocument {
    /// The key of a member as types see it; `nil` if it is not valid text.
    func name(at key: Int) -> String? {
        guard let name = text(at: key) else { return nil }
        guard convertsKeys else { return name }
        if let known = names[name] { return known }
        let converted = name.fromSnakeCase
        names[name] = converted
        return converted
    }

    /// Separate from ``decode(_:at:with:)``, because its work on types at run time would slow down all other
    /// values.
    @inline(never)
    func decodeUnconverted<T: Decodable>(_ type: T.Type, with decoder: JSONValueDecoder) throws -> T {
        if let dictionary = type as? any JSONStringKeyed.Type,
            let value = try dictionary.init(unconverted: decoder) as? T
        {
            return value
        }
        return try T(from: decoder)
    }
}

extension String {
    /// `unit_price` as `unitPrice`. Leading and trailing underscores stay; a name without any others is
    /// unchanged.
    fileprivate var fromSnakeCase: String {
        guard let first = firstIndex(where: { $0 != "_" }), let last = lastIndex(where: { $0 != "_" }) else {
            return self
        }
        let words = self[first...last].split(separator: "_")
        guard words.count > 1 else { return self }
        let camel = words[0].lowercased() + words.dropFirst().map(\.capitalized).joined()
        return self[..<first] + camel + self[index(after: last)...]
    }
}

/// Dictionaries with String keys, which are data and are not converted. A protocol, because only a
/// conformance identifies such a type and the type of its values at run time.
protocol JSONStringKeyed {
    init(unconverted decoder: JSONValueDecoder) throws
}

extension Dictionary: JSONStringKeyed where Key == String, Value: Decodable {
    init(unconverted decoder: JSONValueDecoder) throws {
        let document = decoder.document, node = decoder.node
        guard document.kind(at: node).isObject else {
            throw document.misfit([String: Any].self, .object, at: node, path: decoder.codingPath)
        }
        let count = document.count(of: node)
        self.init(minimumCapacity: count)
        var key = document.content(of: node)
        for _ in 0..<count {
            guard let name = document.text(at: key) else { throw document.giveUp() }
            let element = decoder.child(at: key + 1, JSONKey.name(name))
            let value = try element.decode(Value.self)
            if self[name] == nil { self[name] = value }
            key = document.next(after: key + 1)
        }
    }
}

/// A key that comes from the document or the container, not from a type.
enum JSONKey: CodingKey {
    case index(Int)
    case name(String)

    /// The key under which a class decodes its superclass.
    static let `super` = JSONKey.name("super")

    init(stringValue: String) { self = .name(stringValue) }

    init(intValue: Int) { self = .index(intValue) }

    var stringValue: String {
        switch self {
        case .index(let index): "Index \(index)"
        case .name(let name): name
        }
    }

    var intValue: Int? {
        if case .index(let index) = self { index } else { nil }
    }

    /// The description that `JSONDecoder` gives its own keys.
    var description: String {
        "_CodingKey(stringValue: \"\(stringValue)\", intValue: \(intValue.map(String.init) ?? "nil"))"
    }

    var debugDescription: String { description }
}
