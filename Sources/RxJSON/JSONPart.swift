/// A value in a JSON document.
package struct JSONPart: Sendable {
    package let tape: JSONTape
    /// The index of the value in the tape.
    package let node: Int

    package init(_ tape: JSONTape, at node: Int) {
        self.tape = tape
        self.node = node
    }

    /// The whole of a document in UTF-8, with or without a byte order mark.
    package init(wholeOf bytes: [UInt8]) throws(JSONFlaw) {
        // No JSON in UTF-8 begins like this, but the other encodings that `JSONDecoder` accepts do.
        guard let first = bytes.first, first < 0xFE, !bytes.prefix(4).contains(0) else {
            throw JSONFlaw(offset: 0)
        }
        self.init(try JSONScanner.tape(of: bytes), at: JSONTape.root)
    }

    /// The bytes of the value.
    package var literal: Range<Int> { tape.literal(of: node) }

    package var kind: JSONTape.Kind { tape.kind(at: node) }
}

extension JSONPart {
    /// A canonical form of the value, as input of a digest: equal values have equal bytes. The members of an
    /// object are sorted by name, strings are unescaped and preceded by their length, and there are no
    /// blanks. Numbers keep all their digits, so `1` and `1.0` differ. All members of the same name count, in
    /// order. The keys of stored responses contain digests of it: with another form these are not found.
    ///
    /// - Parameter bytes: the document.
    package func canonical(in bytes: [UInt8]) -> [UInt8] {
        var form = CanonicalForm(tape: tape, bytes: bytes)
        form.write(node)
        return form.text
    }
}

/// Writes a value in the canonical form, of which the keys of stored responses contain a digest. It recurses as deep as
/// arrays and objects nest, which ``JSONTape/depthLimit`` bounds.
private struct CanonicalForm {
    let tape: JSONTape
    let bytes: [UInt8]
    var text: [UInt8] = []

    mutating func write(_ node: Int) {
        let kind = tape.kind(at: node)
        if kind == .array {
            text.append(UInt8(ascii: "["))
            var element = node + 2
            while element < tape[node].length {
                write(element)
                element = tape[element].next(after: element)
            }
            text.append(UInt8(ascii: "]"))
        } else if kind.isObject {
            text.append(UInt8(ascii: "{"))
            for key in keys(of: node) {
                append(key.name, as: UInt8(ascii: "k"))
                write(key.node + 1)
            }
            text.append(UInt8(ascii: "}"))
        } else if kind.isString {
            append(string(at: node), as: UInt8(ascii: "s"))
        } else {
            append(bytes[tape.literal(of: node)], as: UInt8(ascii: "l"))
        }
    }

    private func keys(of object: Int) -> [(name: ArraySlice<UInt8>, node: Int)] {
        var keys: [(name: ArraySlice<UInt8>, node: Int)] = []
        var key = object + 2
        while key < tape[object].length {
            keys.append((string(at: key), key))
            key = tape[key + 1].next(after: key + 1)
        }
        // By bytes, as stored keys have them; by node if the names are equal, because sorting need not be stable.
        return keys.sorted { first, second in
            if first.name.lexicographicallyPrecedes(second.name) { return true }
            return first.node < second.node && !second.name.lexicographicallyPrecedes(first.name)
        }
    }

    /// The text, or the literal of an invalid string, whose quotes and length distinguish it from texts.
    private func string(at node: Int) -> ArraySlice<UInt8> {
        let word = tape[node]
        guard word.kind == .escaped else { return bytes[word.offset..<word.offset + word.length] }
        let text = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe JSONDocument.text(
                of: UnsafeBufferPointer(rebasing: bytes[word.offset..<word.offset + word.length]))
        }
        return text.map { ArraySlice($0.utf8) } ?? ArraySlice(bytes[tape.literal(of: node)])
    }

    /// Stored keys depend on these bytes, and on the marks `k`, `s` and `l`.
    private mutating func append(_ part: ArraySlice<UInt8>, as mark: UInt8) {
        text.append(mark)
        text += String(part.count).utf8
        text.append(UInt8(ascii: ":"))
        text += part
    }
}
