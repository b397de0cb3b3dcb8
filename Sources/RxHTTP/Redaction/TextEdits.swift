/// Replacements within a text, in the order of their places.
package struct TextEdits {
    package init() {}

    private var edits: [(range: Range<Int>, text: [UInt8])] = []

    /// Adds a replacement behind all others.
    package mutating func replace(_ range: Range<Int>, by text: String) {
        edits.append((range, Array(text.utf8)))
    }

    /// Adds the replacements of a part of the text.
    ///
    /// - Parameter offset: where the part begins.
    package mutating func add(_ others: TextEdits, at offset: Int) {
        for edit in others.edits {
            edits.append((edit.range.lowerBound + offset..<edit.range.upperBound + offset, edit.text))
        }
    }

    /// Adds the replacements of a part of the text from which escapes were removed.
    mutating func add(_ others: TextEdits, in part: UnescapedText) {
        for edit in others.edits { edits += part.replacements(of: edit.range, by: edit.text) }
    }

    /// Both replacements. Where some overlap, the one that begins first, or else the longest, replaces all they cover.
    package func merging(_ others: TextEdits) -> TextEdits {
        guard !others.edits.isEmpty, !edits.isEmpty else { return edits.isEmpty ? others : self }
        var merged = TextEdits()
        var (own, other) = (edits[...], others.edits[...])
        while let first = own.first ?? other.first {
            let isOwn = other.first.map { own.first != nil && Self.isBefore(first.range, $0.range) } ?? true
            let edit = (isOwn ? own.popFirst() : other.popFirst()) ?? first
            guard let last = merged.edits.last, edit.range.lowerBound < last.range.upperBound else {
                merged.edits.append(edit)
                continue
            }
            let end = max(last.range.upperBound, edit.range.upperBound)
            merged.edits[merged.edits.count - 1].range = last.range.lowerBound..<end
        }
        return merged
    }

    private static func isBefore(_ one: Range<Int>, _ other: Range<Int>) -> Bool {
        one.lowerBound == other.lowerBound
            ? one.upperBound >= other.upperBound : one.lowerBound < other.lowerBound
    }

    package func applied(to bytes: [UInt8]) -> [UInt8] {
        guard !edits.isEmpty else { return bytes }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var place = 0
        for edit in edits {
            output += bytes[place..<edit.range.lowerBound]
            output += edit.text
            place = edit.range.upperBound
        }
        return output + bytes[place...]
    }

    /// The chunks of the text after the replacements. A replacement that spans several chunks belongs to the first of
    /// them.
    package func applied(to chunks: [[UInt8]]) -> [[UInt8]] {
        guard !edits.isEmpty else { return chunks }
        let bytes = applied(to: Array(chunks.joined()))
        var result: [[UInt8]] = []
        var (start, place, shift, next) = (0, 0, 0, 0)
        for chunk in chunks {
            place += chunk.count
            while next < edits.count, edits[next].range.lowerBound < place {
                shift += edits[next].text.count - edits[next].range.count
                next += 1
            }
            // Where the last replacement ends, if the chunk ends within it.
            let within = next > 0 ? max(0, edits[next - 1].range.upperBound - place) : 0
            let end = max(start, min(bytes.count, place + within + shift))
            result.append(Array(bytes[start..<end]))
            start = end
        }
        return result
    }
}
