/// What stands where in a JSON document (RFC 8259): a list of all its values in the order of the text, each with its
/// kind and its bytes, and with a link over what is in it, so that any value is passed over in one step.
///
/// Strings and numbers are not looked into before somebody wants them: what is in the tape may still be no JSON there,
/// as for `JSONDecoder`.
///
/// A scalar takes one word. Array and object take two, where the second has the count in its lower half and the end's
/// offset in its upper half; the elements follow, or the members as a key and a value each. The last word is a `null`,
/// for values that are not there.
package struct JSONTape: Sendable, Equatable {
    let words: [UInt64]

    /// The largest document, in bytes, that there is a tape for; with this, all fields fit into their bits.
    static let sizeLimit = 1 << 28 - 16

    /// How deep arrays and objects may nest; the same as for `JSONDecoder`.
    package static let depthLimit = 512

    /// The value that is the whole document.
    package static let root = 0

    /// What stands at a place. Places come from ``root`` and ``values(at:in:)``.
    package func kind(at place: Int) -> Kind { self[place].kind }

    /// The bytes of a value as it stands in the document.
    package func literal(of place: Int) -> Range<Int> {
        let word = self[place]
        if word.kind.isCollection { return word.offset..<Int(truncatingIfNeeded: words[place + 1] >> 32) }
        let quote = word.kind.isString ? 1 : 0
        return word.offset - quote..<word.offset + word.length + quote
    }

    subscript(place: Int) -> JSONWord { JSONWord(bits: words[place]) }
}
