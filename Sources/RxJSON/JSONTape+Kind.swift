extension JSONTape {
    /// The kind of a value, which its first byte and the bytes up to its end tell the scanner.
    package enum Kind: UInt8, Sendable {
        case null, `false`, `true`
        /// Digits, optionally after a minus, in the form of RFC 8259 §6.
        case integer
        /// Begins like a number, and contains only bytes that occur in numbers.
        case number
        /// ASCII without escapes: the bytes are the text.
        case ascii
        /// Without escapes: the bytes are the text if they are valid UTF-8.
        case plain
        /// Contains escapes, or control characters, which are invalid in a string.
        case escaped
        case array
        /// An object whose keys are all ASCII without escapes.
        case object
        /// An object with other keys.
        case mixedObject

        package var isCollection: Bool { self == .array || isObject }
        package var isObject: Bool { self == .object || self == .mixedObject }
        package var isString: Bool { self == .ascii || self == .plain || self == .escaped }
        package var isNumber: Bool { self == .integer || self == .number }
    }
}
