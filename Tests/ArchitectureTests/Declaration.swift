/// A function, initializer, case or type, with its argument labels.
struct Declaration: Sendable {
    let name: String
    let labels: [String]
    let isPublicFunction: Bool
    /// The type in which, or in an extension of which, it is declared.
    let owner: String

    /// The declarations of a file. An initializer has the name of its type.
    static func all(in file: SourceFile) -> [Declaration] {
        let declaration =
            #/(public (?:static )?)?\b(func|init|case|class|struct|enum|protocol|extension) ?`?(\w*)/#
        var type = ""
        let text = file.code.joined(separator: "\n")
        return text.matches(of: declaration).map { match in
            let parameters = text[match.range.upperBound...].drop { $0 == "`" }
            switch match.2 {
            case "func", "case":
                return Declaration(
                    name: String(match.3), labels: labels(in: parameters),
                    isPublicFunction: match.2 == "func" && match.1 != nil, owner: type)
            case "init":
                return Declaration(
                    name: type, labels: labels(in: parameters), isPublicFunction: false, owner: type)
            default:
                defer { type = String(match.3) }
                return Declaration(
                    name: String(match.3), labels: [], isPublicFunction: false, owner: type)
            }
        }
    }

    /// The labels of the parameters at the start of `text`, after generic ones.
    private static func labels(in text: Substring) -> [String] {
        guard let parameters = text.firstMatch(of: #/^\s*[?]?(?:<[^(]*>)?\(/#) else { return [] }
        var depth = 1
        var labels: [String] = []
        var word = ""
        for character in text[parameters.range.upperBound...] {
            switch character {
            case "(", "[", "<", "{": depth += 1
            case ")", "]", "}": depth -= 1
            case ">" where !word.hasSuffix("-"): depth -= 1
            case ":" where depth == 1:
                let names = word.split(whereSeparator: \.isWhitespace)
                if let label = names.first { labels.append(String(label)) }
            case "," where depth == 1: word = ""
            default: word.append(character)
            }
            if depth == 0 { break }
        }
        return labels
    }
}
