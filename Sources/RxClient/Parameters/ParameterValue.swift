/// A value of any type. Encoded through a container, so that the encoder's strategies hold for it; and as a
/// value of a dictionary, so that they leave its key alone.
struct ParameterValue: Encodable, Sendable {
    let value: any Encodable & Sendable

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }

    /// A text, whole number or truth value, which every encoder writes the same way, so that none has to be asked.
    var scalar: JSONValue? {
        switch value {
        case let text as String: .string(text)
        case let number as Int: .integer(Int64(number))
        case let number as Int64: .integer(number)
        case let isTrue as Bool: .bool(isTrue)
        default: nil
        }
    }
}
