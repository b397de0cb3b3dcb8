extension Value {
    /// A member named by a value, by JavaScript's rules: of an object, an array or a text.
    func member(_ name: Value) -> Value {
        switch (self, name) {
        case (.object(let members), _): return members[name.text] ?? .undefined
        case (.array(let values), "length"): return .number(values.count)
        case (.array(let values), _):
            guard let index = Int(name.text), values.indices.contains(index) else { return .undefined }
            return values[index]
        case (.string(let text), "length"): return .number(text.utf16.count)
        case (.error(_, let message), "message"): return .string(message)
        case (.error(let name, _), "name"): return .string(name)
        default: return .undefined
        }
    }

    /// Whether it can be subscribed to.
    var isStream: Bool {
        switch self {
        case .node, .constant, .array, .string: true
        default: false
        }
    }

    /// The value as a number, by JavaScript's rules.
    var numeric: Double {
        switch self {
        case .number(let number): number
        case .boolean(let value): value ? 1 : 0
        case .null: 0
        case .string(let text): text.isEmpty ? 0 : Double(text) ?? .nan
        case .date(let time): time
        default: .nan
        }
    }

    /// The order of JavaScript: of texts as texts, of all other values as numbers.
    func isLess(than other: Value) -> Bool {
        if case (.string(let one), .string(let other)) = (self, other) { return one < other }
        return numeric < other.numeric
    }

    /// The value as the name of a member.
    private var text: String {
        switch self {
        case .string(let text): text
        case .number(let number): Int(exactly: number).map { "\($0)" } ?? "\(number)"
        default: "\(self)"
        }
    }
}
