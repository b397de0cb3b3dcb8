import FoundationEssentials

/// The structure of a JSON document (RFC 8259): a list of all its values in document order, each with its
/// kind and its bytes, and with a link past its content, so that any value is skipped in one step.
///
/// Strings and numbers are not validated before they are read: those in the tape may be invalid, as for
/// `JSONDecoder`.
///
/// A node is the index of a value's first word. A scalar takes one word. An array or object takes two; the second has
/// the count in its lower half and the end offset in its upper half; the elements follow, or a key and a value for each
/// member. The last word is a `null` that stands for absent values.
package struct JSONTape: Sendable, Equatable {
    let words: [UInt64]

    /// The largest document, in bytes; up to this size all fields fit into their bits (``JSONWord``).
    package static let sizeLimit = 1 << 28 - 16

    /// The nesting limit of arrays and objects; the same as for `JSONDecoder`.
    package static let depthLimit = 512

    /// The node of the whole document.
    package static let root = 0

    /// The kind of the value at a node. Nodes come from ``root`` and ``values(at:in:)``.
    package func kind(at node: Int) -> Kind { self[node].kind }

    /// The bytes of a value as written in the document.
    package func literal(of node: Int) -> Range<Int> {
        let word = self[node]
        if word.kind.isCollection { return word.offset..<Int(truncatingIfNeeded: words[node + 1] >> 32) }
        let quote = word.kind.isString ? 1 : 0
        return word.offset - quote..<word.offset + word.length + quote
    }

    subscript(node: Int) -> JSONWord { JSONWord(bits: words[node]) }
}

extension JSONTape {
    /// The kind of a value, which its first byte and the bytes up to its end tell the scanner.
    /// The order counts: ``JSONWord`` compares the numbers to recognize collections and objects.
    package enum Kind: UInt8, Sendable {
        case null, `false`, `true`
        /// Digits, optionally after a minus, in the form of RFC 8259 §6.
        case integer
        /// Begins like a number, and contains only bytes that occur in numbers.
        case number
        /// ASCII without escapes: the bytes are the text.
        case ascii
        /// Without escapes: the bytes are the text if they are valid UTF-8.
        case plain
        /// Contains escapes, or control characters, which are invalid in a string.
        case escaped
        case array
        /// An object whose keys are all ASCII without escapes.
        case object
        /// An object with other keys.
        case mixedObject

        package var isCollection: Bool { self == .array || isObject }
        package var isObject: Bool { self == .object || self == .mixedObject }
        package var isString: Bool { self == .ascii || self == .plain || self == .escaped }
        package var isNumber: Bool { self == .integer || self == .number }
    }
}

extension JSONTape {
    /// The nodes of the values that `paths` lead to, outermost key first; `nil` for absent values. The first
    /// of several members with the same key counts, as for `JSONDecoder`.
    ///
    /// - Parameters:
    ///   - start: the node where the paths begin. Default: the whole document.
    ///   - bytes: the document.
    package func values(at paths: [[String]], at start: Int = root, in bytes: [UInt8]) -> [Int?] {
        paths.map { path in
            path.reduce(start) { node, key in node.flatMap { value(of: key, in: $0, bytes) } }
        }
    }

    private func value(of name: String, in node: Int, _ bytes: [UInt8]) -> Int? {
        guard kind(at: node).isObject else { return nil }
        var key = node + 2
        // The link leads past the last member.
        while key < self[node].length {
            if isKey(key, name, bytes) { return key + 1 }
            key = self[key + 1].next(after: key + 1)
        }
        return nil
    }

    /// A description of the value at `path`: `a string`, or `an object with the fields code and data`; `nil` if it
    /// leads nowhere, as one of converted keys may. Errors of RxHTTP have it behind `found` and `in`.
    package func words(for path: [any CodingKey], in bytes: [UInt8]) -> String? {
        let end = path.reduce(Self.root) { (node: Int?, key) in
            node.flatMap { node in
                key.intValue.flatMap { element($0, of: node) }
                    ?? value(of: key.stringValue, in: node, bytes)
            }
        }
        return end.map { words(for: $0, bytes) }
    }

    private func element(_ index: Int, of node: Int) -> Int? {
        guard kind(at: node) == .array, index >= 0 else { return nil }
        var element = node + 2
        for _ in 0..<index where element < self[node].length { element = self[element].next(after: element) }
        return element < self[node].length ? element : nil
    }

    private func words(for node: Int, _ bytes: [UInt8]) -> String {
        switch kind(at: node) {
        case .null: return "null"
        case .false: return "false"
        case .true: return "true"
        case .integer, .number: return "a number"
        case .ascii, .plain, .escaped: return "a string"
        case .array: return node + 2 < self[node].length ? "an array" : "an empty array"
        case .object, .mixedObject: break
        }
        let shown = 8
        var names: [String] = []
        var key = node + 2
        while key < self[node].length, names.count <= shown {
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

    /// Whether a key is equal to `name` as a `String`, the rule of ``JSONDocument/members(of:)`` as well.
    private func isKey(_ node: Int, _ name: String, _ bytes: [UInt8]) -> Bool {
        let word = self[node]
        let literal = word.offset..<word.offset + word.length
        // In place, since an iterator over `utf8` takes several times as long.
        let isSame = unsafe name.utf8.withContiguousStorageIfAvailable { name in
            name.count == literal.count
                && name.indices.allSatisfy { unsafe name[$0] == bytes[literal.lowerBound + $0] }
        }
        if isSame ?? bytes[literal].elementsEqual(name.utf8) { return word.kind != .escaped }
        // Texts may be equal although their bytes differ.
        let isASCII = unsafe name.utf8.withContiguousStorageIfAvailable { unsafe $0.allSatisfy { $0 < 0x80 } }
        guard word.kind != .ascii || isASCII != true else { return false }
        return text(at: node, in: bytes) == name
    }

    /// The string at a node; `nil` if there is none, or if it is not a JSON string (RFC 8259 §7) in UTF-8.
    ///
    /// - Parameter bytes: the document.
    package func text(at node: Int, in bytes: [UInt8]) -> String? {
        let word = self[node]
        guard word.kind.isString else { return nil }
        let literal = bytes[word.offset..<word.offset + word.length]
        switch word.kind {
        case .ascii: return String(decoding: literal, as: UTF8.self)
        case .plain: return String(validating: literal, as: UTF8.self)
        default: return unsafe literal.withUnsafeBufferPointer { unsafe String(unescaping: $0) }
        }
    }

    /// The members of an object, in order; empty for any other value.
    package func members(of node: Int) -> [(key: Int, value: Int)] {
        guard kind(at: node).isObject else { return [] }
        var members: [(key: Int, value: Int)] = []
        var key = node + 2
        // The link leads past the last member.
        while key < self[node].length {
            members.append((key, key + 1))
            key = self[key + 1].next(after: key + 1)
        }
        return members
    }

    /// The elements of an array, in order; empty for any other value.
    package func elements(of node: Int) -> [Int] {
        guard kind(at: node) == .array else { return [] }
        var elements: [Int] = []
        var element = node + 2
        while element < self[node].length {
            elements.append(element)
            element = self[element].next(after: element)
        }
        return elements
    }
}

/// A word of a tape: kind in the lowest 4 bits, 28 bits of length or link, 32 bits of offset.
struct JSONWord {
    var bits: UInt64

    init(bits: UInt64) { self.bits = bits }

    /// - Parameters:
    ///   - offset: where the value begins in the document; for a string, after the quote.
    ///   - length: the number of bytes; for a string, between the quotes; for a collection, the node after
    ///     its content.
    init(_ kind: JSONTape.Kind, offset: Int, length: Int) {
        bits =
            UInt64(kind.rawValue) | UInt64(truncatingIfNeeded: length & 0xFFF_FFFF) << 4
            | UInt64(truncatingIfNeeded: offset) << 32
    }

    /// Scanners write only valid kinds.
    var kind: JSONTape.Kind { JSONTape.Kind(rawValue: UInt8(truncatingIfNeeded: bits & 0xF)) ?? .null }
    var length: Int { Int(truncatingIfNeeded: bits >> 4 & 0xFFF_FFFF) }
    var offset: Int { Int(truncatingIfNeeded: bits >> 32) }

    var isCollection: Bool { bits & 0xF >= JSONTape.Kind.array.rawValue }
    var isObject: Bool { bits & 0xF >= JSONTape.Kind.object.rawValue }

    /// The node of the next sibling of the value at `node`.
    func next(after node: Int) -> Int { isCollection ? length : node + 1 }
}
