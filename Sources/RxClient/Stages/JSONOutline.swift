import FoundationEssentials

/// Finds values in a JSON document (RFC 8259) by their keys, in one pass and without reading the rest: an envelope
/// is opened by it before anybody knows what its content is decoded to.
///
/// What is passed over is looked at no closer than it takes to find its end: brackets have to match, strings to end.
/// Whoever wants a value decodes its bytes and so checks them. Of a key that stands twice in an object the first
/// counts, as for `JSONDecoder`.
struct JSONOutline {
    /// The byte at which the document is no JSON any more.
    struct Flaw: Error, Equatable {
        let offset: Int
    }

    /// How deep brackets may nest; the same as for `JSONDecoder`.
    static let depthLimit = 512

    private let bytes: [UInt8]
    private var index = 0
    private let end: Int

    /// - Parameter bytes: the document as UTF-8, with or without a byte order mark.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        end = bytes.count
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
    }

    /// What is looked for below some value: the `number`th result, and the keys that lead there.
    private struct Wish {
        let number: Int
        var path: ArraySlice<String>
    }

    /// Where the values are that `paths` lead to, outermost key first; `nil` for those that are not there.
    ///
    /// - Throws: ``Flaw`` unless the whole is one value.
    mutating func values(at paths: [[String]]) throws(Flaw) -> [Range<Int>?] {
        var found = [Range<Int>?](repeating: nil, count: paths.count)
        skipBlanks()
        try skipValue(noting: paths.enumerated().map { Wish(number: $0, path: $1[...]) }, in: &found)
        skipBlanks()
        guard index == end else { throw flaw }
        return found
    }

    private var flaw: Flaw { Flaw(offset: index) }

    private var next: UInt8? { index < end ? bytes[index] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    /// Goes over a value, and notes where it is and what is wished for in it.
    private mutating func skipValue(noting wishes: [Wish], in found: inout [Range<Int>?]) throws(Flaw) {
        let start = index
        let deeper = wishes.filter { !$0.path.isEmpty }
        if next == UInt8(ascii: "{"), !deeper.isEmpty {
            try skipObject(noting: deeper, in: &found)
        } else {
            try skipValue()
        }
        for wish in wishes where wish.path.isEmpty { found[wish.number] = start..<index }
    }

    private mutating func skipObject(noting wishes: [Wish], in found: inout [Range<Int>?]) throws(Flaw) {
        var open = wishes
        index += 1
        skipBlanks()
        while next != UInt8(ascii: "}") {
            guard next == UInt8(ascii: "\"") else { throw flaw }
            let start = index
            try skipString()
            let key = start..<index
            skipBlanks()
            guard next == UInt8(ascii: ":") else { throw flaw }
            index += 1
            skipBlanks()
            let granted = open.filter { isString(key, $0.path.first) }
            if granted.isEmpty {
                try skipValue()
            } else {
                open.removeAll { isString(key, $0.path.first) }
                let below = granted.map { Wish(number: $0.number, path: $0.path.dropFirst()) }
                try skipValue(noting: below, in: &found)
            }
            skipBlanks()
            // After the last member too there may be a comma, as for `JSONDecoder`.
            guard next == UInt8(ascii: ",") else { break }
            index += 1
            skipBlanks()
        }
        guard next == UInt8(ascii: "}") else { throw flaw }
        index += 1
    }

    /// Goes over a value, whatever is in it.
    private mutating func skipValue() throws(Flaw) {
        var brackets: [UInt8] = []
        repeat {
            guard let byte = next else { throw flaw }
            switch byte {
            case UInt8(ascii: "\""): try skipString()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard brackets.count < Self.depthLimit else { throw flaw }
                // `}` and `]` come two after their openers.
                brackets.append(byte + 2)
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard brackets.popLast() == byte else { throw flaw }
                index += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"), 0x20, 0x0A, 0x0D, 0x09:
                guard !brackets.isEmpty else { throw flaw }
                index += 1
            default: try skipWord()
            }
        } while !brackets.isEmpty
    }

    /// A number, or `true`, `false`, `null`.
    private mutating func skipWord() throws(Flaw) {
        let start = index
        while index < end {
            switch bytes[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "E"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                index += 1
            default:
                guard index > start else { throw flaw }
                return
            }
        }
    }

    private mutating func skipString() throws(Flaw) {
        index += 1
        while index < end {
            switch bytes[index] {
            case UInt8(ascii: "\""): return index += 1
            case UInt8(ascii: "\\"): index += 2
            default: index += 1
            }
        }
        index = end
        throw flaw
    }

    /// Whether the string literal in that range says `text`.
    private func isString(_ range: Range<Int>, _ text: String?) -> Bool {
        guard let text else { return false }
        let literal = bytes[range].dropFirst().dropLast()
        if literal.elementsEqual(text.utf8) { return true }
        guard literal.contains(UInt8(ascii: "\\")) else { return false }
        return (try? JSONDecoder().decode(String.self, from: Data(bytes[range]))) == text
    }
}
