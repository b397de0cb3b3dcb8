import FoundationEssentials

extension JSONTape {
    /// The places of the values that `paths` lead to, outermost key first; `nil` for absent values. The first
    /// of several members with the same key counts, as for `JSONDecoder`.
    ///
    /// - Parameters:
    ///   - start: the place where the paths begin. Default: the whole document.
    ///   - bytes: the document.
    package func values(at paths: [[String]], at start: Int = root, in bytes: [UInt8]) -> [Int?] {
        paths.map { path in
            path.reduce(start) { place, key in place.flatMap { value(of: key, in: $0, bytes) } }
        }
    }

    private func value(of name: String, in place: Int, _ bytes: [UInt8]) -> Int? {
        guard kind(at: place).isObject else { return nil }
        var key = place + 2
        // The link leads past the last member.
        while key < self[place].length {
            if isKey(key, name, bytes) { return key + 1 }
            key = self[key + 1].next(after: key + 1)
        }
        return nil
    }

    /// What stands where `path` leads, in words: `a string`, or `an object with the fields code and data`; `nil` if it
    /// leads nowhere, as one of converted keys may.
    package func words(for path: [any CodingKey], in bytes: [UInt8]) -> String? {
        let end = path.reduce(Self.root) { (place: Int?, key) in
            place.flatMap { place in
                key.intValue.flatMap { element($0, of: place) }
                    ?? value(of: key.stringValue, in: place, bytes)
            }
        }
        return end.map { words(for: $0, bytes) }
    }

    private func element(_ index: Int, of place: Int) -> Int? {
        guard kind(at: place) == .array, index >= 0 else { return nil }
        var element = place + 2
        for _ in 0..<index where element < self[place].length { element = self[element].next(after: element) }
        return element < self[place].length ? element : nil
    }

    private func words(for place: Int, _ bytes: [UInt8]) -> String {
        switch kind(at: place) {
        case .null: return "null"
        case .false: return "false"
        case .true: return "true"
        case .integer, .number: return "a number"
        case .ascii, .plain, .escaped: return "a string"
        case .array: return place + 2 < self[place].length ? "an array" : "an empty array"
        case .object, .mixedObject: break
        }
        let shown = 8
        var names: [String] = []
        var key = place + 2
        while key < self[place].length, names.count <= shown {
            let name = String(decoding: bytes[literal(of: key)].dropFirst().dropLast(), as: UTF8.self)
            names.append(name.count > 40 ? name.prefix(40) + "…" : name)
            key = self[key + 1].next(after: key + 1)
        }
        switch names.count {
        case 0: return "an empty object"
        case 1: return "an object with the field \(names[0])"
        case ...shown:
            return
                "an object with the fields \(names.dropLast().joined(separator: ", ")) and \(names[names.count - 1])"
        default: return "an object with the fields \(names.prefix(shown).joined(separator: ", ")) and others"
        }
    }

    /// The members of the document's top-level object, each with the bytes of its value; `nil` if the
    /// document is not an object, or a name is not valid text.
    package func members(in bytes: [UInt8]) -> [(name: String, value: ArraySlice<UInt8>)]? {
        guard kind(at: Self.root).isObject else { return nil }
        var members: [(name: String, value: ArraySlice<UInt8>)] = []
        var key = Self.root + 2
        while key < self[Self.root].length {
            let part = JSONPart(self, at: key)
            guard let name = try? JSONDecoder().decode(String.self, quicklyFrom: bytes, at: part) else {
                return nil
            }
            members.append((name, bytes[literal(of: key + 1)]))
            key = self[key + 1].next(after: key + 1)
        }
        return members
    }

    private func isKey(_ place: Int, _ name: String, _ bytes: [UInt8]) -> Bool {
        let word = self[place]
        if word.length == name.utf8.count,
            bytes[word.offset..<word.offset + word.length].elementsEqual(name.utf8)
        {
            return word.kind != .escaped
        }
        // Texts may be equal although their bytes differ.
        guard word.kind != .ascii || !name.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        return text(at: place, in: bytes) == name
    }

    /// The string at a place; `nil` if there is none, or if it is not a JSON string (RFC 8259 §7) in UTF-8.
    ///
    /// - Parameter bytes: the document.
    package func text(at place: Int, in bytes: [UInt8]) -> String? {
        let word = self[place]
        guard word.kind.isString else { return nil }
        let literal = bytes[word.offset..<word.offset + word.length]
        switch word.kind {
        case .ascii: return String(decoding: literal, as: UTF8.self)
        case .plain: return String(validating: literal, as: UTF8.self)
        default: return unsafe literal.withUnsafeBufferPointer { unsafe String(unescaping: $0) }
        }
    }

    /// The members of an object, in order; empty for any other value.
    package func members(of place: Int) -> [(key: Int, value: Int)] {
        guard kind(at: place).isObject else { return [] }
        var members: [(key: Int, value: Int)] = []
        var key = place + 2
        // The link leads past the last member.
        while key < self[place].length {
            members.append((key, key + 1))
            key = self[key + 1].next(after: key + 1)
        }
        return members
    }

    /// The elements of an array, in order; empty for any other value.
    package func elements(of place: Int) -> [Int] {
        guard kind(at: place) == .array else { return [] }
        var elements: [Int] = []
        var element = place + 2
        while element < self[place].length {
            elements.append(element)
            element = self[element].next(after: element)
        }
        return elements
    }
}
