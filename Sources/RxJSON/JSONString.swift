extension JSONDocument {
    /// The string at `node`; `nil` if there is none, or if it is not a JSON string (RFC 8259 §7) in UTF-8.
    func text(at node: Int) -> String? {
        let word = self[node]
        let literal = unsafe UnsafeBufferPointer(start: bytes + word.offset, count: word.length)
        switch word.kind {
        case .ascii: return unsafe String(decoding: literal, as: UTF8.self)
        case .plain: return unsafe String(validating: literal, as: UTF8.self)
        case .escaped: return unsafe String(unescaping: literal)
        default: return nil
        }
    }

    /// The text of a string with escapes, given without its quotes; `nil` if it is not a JSON string.
    static func text(of escaped: UnsafeBufferPointer<UInt8>) -> String? { unsafe String(unescaping: escaped) }

    /// A scalar as written.
    func literal(at node: Int) -> String {
        let word = self[node]
        return unsafe String(
            decoding: UnsafeBufferPointer(start: bytes + word.offset, count: word.length), as: UTF8.self)
    }
}

extension String {
    /// The text of a JSON string with escapes (RFC 8259 §7), given without its quotes; `nil` if it is not a
    /// JSON string.
    init?(unescaping literal: UnsafeBufferPointer<UInt8>) {
        var text: [UInt8] = []
        text.reserveCapacity(literal.count)
        var rest = unsafe literal[...]
        while let byte = unsafe rest.popFirst() {
            guard byte >= 0x20 else { return nil }
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            switch unsafe rest.popFirst() {
            case UInt8(ascii: "\""): text.append(UInt8(ascii: "\""))
            case UInt8(ascii: "\\"): text.append(UInt8(ascii: "\\"))
            case UInt8(ascii: "/"): text.append(UInt8(ascii: "/"))
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"):
                guard let scalar = unsafe Unicode.Scalar(escaped: &rest), let encoded = UTF8.encode(scalar)
                else { return nil }
                text.append(contentsOf: encoded)
            default: return nil
            }
        }
        self.init(validating: text, as: UTF8.self)
    }
}

extension Unicode.Scalar {
    /// The scalar of four hexadecimal digits; after a lead surrogate, together with those of the next escape.
    fileprivate init?(escaped rest: inout Slice<UnsafeBufferPointer<UInt8>>) {
        guard let unit = unsafe UInt16(hexadecimal: &rest) else { return nil }
        guard UTF16.isLeadSurrogate(unit) else {
            self.init(unit)
            return
        }
        guard unsafe rest.popFirst() == UInt8(ascii: "\\"), unsafe rest.popFirst() == UInt8(ascii: "u"),
            let trail = unsafe UInt16(hexadecimal: &rest), UTF16.isTrailSurrogate(trail)
        else { return nil }
        self = UTF16.decode(UTF16.EncodedScalar([unit, trail]))
    }
}

extension UInt16 {
    fileprivate init?(hexadecimal rest: inout Slice<UnsafeBufferPointer<UInt8>>) {
        self = 0
        for _ in 0..<4 {
            guard let byte = unsafe rest.popFirst(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue
            else { return nil }
            self = self << 4 | UInt16(truncatingIfNeeded: digit)
        }
    }
}
