/// The text of any value, of bounded length.
enum ShortText {
    /// The most characters.
    static let limit = 400
    /// The most elements of a list; of more, only the number is shown.
    private static let listLimit = 3

    static func of<Value>(_ value: Value) -> String {
        switch value {
        case let text as String: cut(text)
        case let shown as any InspectedValue: cut(shown.inspectedText)
        case let bytes as [UInt8]: "\(bytes.count) bytes"
        // Their elements are not all described, because there may be millions.
        case let list as any RandomAccessCollection: text(of: list)
        case is Void: "()"
        default: cut(String(describing: value))
        }
    }

    private static func text(of list: any RandomAccessCollection) -> String {
        func text<List: RandomAccessCollection>(_ list: List) -> String {
            let shown = list.prefix(listLimit).map { cut(String(describing: $0), to: limit / listLimit) }
            let rest = list.count > listLimit ? ", … \(list.count) in all" : ""
            return "[\(shown.joined(separator: ", "))\(rest)]"
        }
        return text(list)
    }

    private static func cut(_ text: String, to limit: Int = limit) -> String {
        // The number of characters is at most that of bytes, which is known.
        text.utf8.count <= limit ? text : text.prefix(limit) + "…"
    }
}
