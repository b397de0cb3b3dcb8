/// The text of any value, of bounded length. That of a structure is made as a whole and then cut off.
enum ShortText {
    /// The most characters.
    static let limit = 400
    /// The most elements of a list; of more, only the number is shown.
    private static let listLimit = 3

    static func of<Value>(_ value: Value) -> String {
        switch value {
        case let text as any StringProtocol: cut(text)
        case let shown as any InspectedValue: cut(shown.inspectedText)
        case let bytes as [UInt8]: "\(bytes.count) bytes"
        // Their elements are not all described, because there may be millions.
        case let list as any Collection: text(of: list)
        case is Void: "()"
        default: cut(String(describing: value))
        }
    }

    private static func text(of list: any Collection) -> String {
        func text<List: Collection>(_ list: List) -> String {
            let shown = list.prefix(listLimit).map { cut(of($0), to: limit / listLimit) }
            let rest = list.count > listLimit ? ", … \(list.count) in all" : ""
            return "[\(shown.joined(separator: ", "))\(rest)]"
        }
        return text(list)
    }

    private static func cut(_ text: some StringProtocol, to limit: Int = limit) -> String {
        // The number of characters is at most that of bytes, which is known.
        text.utf8.count <= limit ? String(text) : text.prefix(limit) + "…"
    }
}
