/// Replacements within a text, in the order of their places.
struct TextEdits {
    private var edits: [(range: Range<Int>, text: [UInt8])] = []

    /// Adds a replacement behind all others.
    mutating func replace(_ range: Range<Int>, by text: String) { edits.append((range, Array(text.utf8))) }

    /// Adds the replacements of a part of the text.
    ///
    /// - Parameter offset: where the part begins.
    mutating func add(_ others: TextEdits, at offset: Int) {
        for edit in others.edits {
            edits.append((edit.range.lowerBound + offset..<edit.range.upperBound + offset, edit.text))
        }
    }

    /// These replacements, and those of the others that touch none of these.
    func merging(_ others: TextEdits) -> TextEdits {
        guard !others.edits.isEmpty, !edits.isEmpty else { return edits.isEmpty ? others : self }
        var merged = TextEdits()
        var rest = edits[...]
        for other in others.edits {
            while let edit = rest.first, edit.range.upperBound <= other.range.lowerBound {
                merged.edits.append(rest.removeFirst())
            }
            if rest.first?.range.overlaps(other.range) != true { merged.edits.append(other) }
        }
        merged.edits += rest
        return merged
    }

    func applied(to bytes: [UInt8]) -> [UInt8] {
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
    func applied(to chunks: [[UInt8]]) -> [[UInt8]] {
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
