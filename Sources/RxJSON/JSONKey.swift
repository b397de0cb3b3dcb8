/// A key that comes from the document or the container, not from a type.
enum JSONKey: CodingKey {
    case index(Int)
    case name(String)

    /// The key under which a class decodes its superclass.
    static let `super` = JSONKey.name("super")

    init(stringValue: String) { self = .name(stringValue) }

    init(intValue: Int) { self = .index(intValue) }

    var stringValue: String {
        switch self {
        case .index(let index): "Index \(index)"
        case .name(let name): name
        }
    }

    var intValue: Int? {
        if case .index(let index) = self { index } else { nil }
    }

    /// The same text as of the keys that `JSONDecoder` makes.
    var description: String {
        "_CodingKey(stringValue: \"\(stringValue)\", intValue: \(intValue.map(String.init) ?? "nil"))"
    }

    var debugDescription: String { description }
}
