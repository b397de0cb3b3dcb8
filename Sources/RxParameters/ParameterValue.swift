/// A value of any type. It is encoded through a container, so that the encoder's strategies apply to it; and
/// as the value of a dictionary, so that they leave its key unchanged.
struct ParameterValue: Encodable, Sendable {
    let value: any Encodable & Sendable

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }

    /// A string, integer or Bool, which every encoder writes in the same way, so that encoding needs no
    /// encoder.
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
