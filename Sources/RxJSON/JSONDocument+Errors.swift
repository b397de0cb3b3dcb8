import FoundationEssentials

/// The errors that types may catch and read are those of `JSONDecoder`, texts included.
extension JSONDocument {
    /// The reason why a value of the document, read as `form`, is not a `type`.
    func misfit<T>(_ type: T.Type, _ form: Form, at place: Int, path: @autoclosure () -> [any CodingKey])
        -> any Error
    {
        let kind = kind(at: place)
        if kind == .null, form != .bool {
            return DecodingError.valueNotFound(
                type,
                .init(
                    codingPath: path(),
                    debugDescription: "Cannot get value of type \(type) -- found null value instead"))
        }
        if form.has(kind) { return malformed(type, at: place) }
        // `JSONDecoder` may accept strings as numbers.
        if form == .number, kind.isString, !(T.self is any FixedWidthInteger.Type), !refusesNonConforming {
            return giveUp()
        }
        return mismatch(type, at: place, path: path())
    }

    func mismatch(_ type: Any.Type, at place: Int, path: [any CodingKey]) -> any Error {
        DecodingError.typeMismatch(
            type,
            .init(
                codingPath: path,
                debugDescription: "Expected to decode \(type) but found \(kind(at: place).name) instead."))
    }

    private func malformed<T>(_ type: T.Type, at place: Int) -> any Error {
        // An integer that certainly does not fit `type`; types that try several kinds of number get here.
        guard let integer = type as? any FixedWidthInteger.Type, let double = double(at: place),
            integer.bitWidth <= 64, !integer.holds(double)
        else { return giveUp() }
        return JSONUnrepresentable.numberIsNotRepresentableInSwift(
            parsed: literal(at: place))
    }

    private var refusesNonConforming: Bool {
        if case .throw = options.nonConformingFloatDecodingStrategy { true } else { false }
    }

    /// The form that a scalar is read from.
    enum Form {
        case bool, number, string, object

        fileprivate func has(_ kind: JSONTape.Kind) -> Bool {
            switch self {
            case .bool: kind == .true || kind == .false
            case .number: kind.isNumber
            case .string: kind.isString
            case .object: kind.isObject
            }
        }
    }
}

/// Stands for an error of Foundation that cannot be caught by its type, but may be printed.
private enum JSONUnrepresentable: Error {
    case numberIsNotRepresentableInSwift(parsed: String)
}

extension FixedWidthInteger {
    fileprivate static func holds(_ double: Double) -> Bool { Self(exactly: double) != nil }
}

extension JSONTape.Kind {
    fileprivate var name: String {
        switch self {
        case .null: "null"
        case .true, .false: "bool"
        case .integer, .number: "number"
        case .ascii, .plain, .escaped: "a string"
        case .array: "an array"
        case .object, .mixedObject: "a dictionary"
        }
    }
}
