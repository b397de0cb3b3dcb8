/// A value in a JSON document.
package struct JSONPart: Sendable {
    package let tape: JSONTape
    /// The position in the tape.
    package let place: Int

    package init(_ tape: JSONTape, at place: Int) {
        self.tape = tape
        self.place = place
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
    package var literal: Range<Int> { tape.literal(of: place) }

    package var kind: JSONTape.Kind { tape.kind(at: place) }
}
