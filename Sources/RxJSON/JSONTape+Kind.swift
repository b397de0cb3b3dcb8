extension JSONTape {
    /// What a value is, told by its first byte and by what the scanner has met on the way to its end.
    package enum Kind: UInt8, Sendable {
        case null, `false`, `true`
        /// Digits, perhaps behind a minus, in the form of RFC 8259 §6.
        case integer
        /// Begins as a number does, and has no bytes that are in no number.
        case number
        /// ASCII without escapes: the bytes are the text.
        case ascii
        /// Without escapes: the bytes are the text if they are UTF-8.
        case plain
        /// Has escapes, or control characters, which no string may have.
        case escaped
        case array
        /// All keys are ASCII without escapes.
        case object
        /// Some key is not.
        case mixedObject

        package var isCollection: Bool { self == .array || isObject }
        package var isObject: Bool { self == .object || self == .mixedObject }
        package var isString: Bool { self == .ascii || self == .plain || self == .escaped }
        package var isNumber: Bool { self == .integer || self == .number }
    }
}
