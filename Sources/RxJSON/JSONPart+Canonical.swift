extension JSONPart {
    /// The value in a form in which equal values have equal bytes, to make a digest of: the members of an object in the
    /// order of their names, strings without escapes, each with its length before it; no blanks. Numbers keep all their
    /// digits, so `1` and `1.0` are two. Of members of the same name all count, in their order.
    ///
    /// - Parameter bytes: the document.
    package func canonical(in bytes: [UInt8]) -> [UInt8] {
        var form = CanonicalForm(tape: tape, bytes: bytes)
        form.write(place)
        return form.text
    }
}

/// A value as it is written down. It calls itself as deep as arrays and objects nest, which ``JSONTape/depthLimit``
/// bounds.
private struct CanonicalForm {
    let tape: JSONTape
    let bytes: [UInt8]
    var text: [UInt8] = []

    mutating func write(_ place: Int) {
        let kind = tape.kind(at: place)
        if kind == .array {
            text.append(UInt8(ascii: "["))
            var element = place + 2
            while element < tape[place].length {
                write(element)
                element = tape[element].next(after: element)
            }
            text.append(UInt8(ascii: "]"))
        } else if kind.isObject {
            text.append(UInt8(ascii: "{"))
            for key in keys(of: place) {
                append(key.name, as: UInt8(ascii: "k"))
                write(key.place + 1)
            }
            text.append(UInt8(ascii: "}"))
        } else if kind.isString {
            append(string(at: place), as: UInt8(ascii: "s"))
        } else {
            append(bytes[tape.literal(of: place)], as: UInt8(ascii: "l"))
        }
    }

    private func keys(of object: Int) -> [(name: ArraySlice<UInt8>, place: Int)] {
        var keys: [(name: ArraySlice<UInt8>, place: Int)] = []
        var key = object + 2
        while key < tape[object].length {
            keys.append((string(at: key), key))
            key = tape[key + 1].next(after: key + 1)
        }
        // By place where the names are the same, since sorting need not keep an order.
        return keys.sorted { first, second in
            if first.name.lexicographicallyPrecedes(second.name) { return true }
            return first.place < second.place && !second.name.lexicographicallyPrecedes(first.name)
        }
    }

    /// The text, or the literal of a string that is none; its quotes and its length tell it from texts.
    private func string(at place: Int) -> ArraySlice<UInt8> {
        let word = tape[place]
        guard word.kind == .escaped else { return bytes[word.offset..<word.offset + word.length] }
        let text = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe JSONDocument.text(
                of: UnsafeBufferPointer(rebasing: bytes[word.offset..<word.offset + word.length]))
        }
        return text.map { ArraySlice($0.utf8) } ?? ArraySlice(bytes[tape.literal(of: place)])
    }

    private mutating func append(_ part: ArraySlice<UInt8>, as mark: UInt8) {
        text.append(mark)
        text += String(part.count).utf8
        text.append(UInt8(ascii: ":"))
        text += part
    }
}
