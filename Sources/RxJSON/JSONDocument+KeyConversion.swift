import FoundationEssentials

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
        let document = decoder.document, place = decoder.place
        guard document.kind(at: place).isObject else {
            throw document.misfit([String: Any].self, .object, at: place, path: decoder.codingPath)
        }
        let count = document.count(of: place)
        self.init(minimumCapacity: count)
        var key = document.content(of: place)
        for _ in 0..<count {
            guard let name = document.text(at: key) else { throw document.giveUp() }
            let element = decoder.child(at: key + 1, JSONKey.name(name))
            let value = try element.decode(Value.self)
            if self[name] == nil { self[name] = value }
            key = document.next(after: key + 1)
        }
    }
}
