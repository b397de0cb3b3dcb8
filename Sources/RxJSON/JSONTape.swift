/// The structure of a JSON document (RFC 8259): a list of all its values in document order, each with its
/// kind and its bytes, and with a link past its content, so that any value is skipped in one step.
///
/// Strings and numbers are not validated before they are read: those in the tape may be invalid, as for
/// `JSONDecoder`.
///
/// A scalar takes one word. An array or object takes two, of which the second has the count in its lower half
/// and the end offset in its upper half; the elements follow, or a key and a value for each member. The last
/// word is a `null` that stands for absent values.
package struct JSONTape: Sendable, Equatable {
    let words: [UInt64]

    /// The largest document, in bytes; up to this size all fields fit into their bits.
    package static let sizeLimit = 1 << 28 - 16

    /// The nesting limit of arrays and objects; the same as for `JSONDecoder`.
    package static let depthLimit = 512

    /// The place of the whole document.
    package static let root = 0

    /// The kind of the value at a place. Places come from ``root`` and ``values(at:in:)``.
    package func kind(at place: Int) -> Kind { self[place].kind }

    /// The bytes of a value as written in the document.
    package func literal(of place: Int) -> Range<Int> {
        let word = self[place]
        if word.kind.isCollection { return word.offset..<Int(truncatingIfNeeded: words[place + 1] >> 32) }
        let quote = word.kind.isString ? 1 : 0
        return word.offset - quote..<word.offset + word.length + quote
    }

    subscript(place: Int) -> JSONWord { JSONWord(bits: words[place]) }
}
