package import FoundationEssentials

/// The directives of a `Cache-Control` field (RFC 9111 §5.2).
///
/// Names count in any case. Of a directive that is there twice the first counts (RFC 9111 §4.2.1).
package struct CacheControl {
    private var arguments: [String: String?] = [:]

    /// Reads a field; of one that is not there, nothing.
    package init(_ field: String?) {
        guard let field else { return }
        for element in field.splitOutsideQuotes(at: ",") {
            let parts = element.splitOutsideQuotes(at: "=", maxSplits: 1)
            guard let first = parts.first else { continue }
            let name = first.trimmingBlanks().lowercased()
            guard !name.isEmpty, arguments[name] == nil else { continue }
            guard parts.count == 2 else {
                arguments[name] = .some(nil)
                continue
            }
            // No space may stand around the "=" (RFC 9110 §5.6.6): with it the argument is one that cannot be read.
            let isSpaced = first.last?.isBlank == true
            let argument = Substring(parts[1].reversed().drop { $0.isBlank }.reversed())
            arguments[name] = isSpaced ? " " : String(argument).unquoted
        }
    }

    /// Whether a directive is there, with an argument or without.
    package func has(_ name: String) -> Bool { arguments[name] != nil }

    /// The argument of a directive.
    package func argument(_ name: String) -> String? { arguments[name] ?? nil }

    /// The seconds that a directive names, at most 2³¹ (RFC 9111 §1.2.2); `nil` if it is not there.
    ///
    /// - Parameter invalid: what a directive with another argument, or with none, means.
    package func seconds(_ name: String, invalid: TimeInterval = 0) -> TimeInterval? {
        guard let argument = arguments[name] else { return nil }
        return argument.flatMap { TimeInterval(deltaSeconds: $0) } ?? invalid
    }

    /// The field names that a directive lists, in lower case.
    package func fieldNames(_ name: String) -> Set<String> {
        Set((argument(name) ?? "").split(separator: ",").map { $0.trimmingBlanks().lowercased() })
    }
}

extension TimeInterval {
    /// Digits alone, at most 2³¹ (RFC 9111 §1.2.2).
    package init?(deltaSeconds text: String) {
        guard !text.isEmpty, text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
            return nil
        }
        self = Double(min(Int(text) ?? .max, 1 << 31))
    }
}

extension StringProtocol {
    /// The parts between separators that stand in no quoted string (RFC 9110 §5.6.4).
    package func splitOutsideQuotes(at separator: Character, maxSplits: Int = .max) -> [SubSequence] {
        var parts: [SubSequence] = []
        var (start, index) = (startIndex, startIndex)
        var (isQuoted, isEscaped) = (false, false)
        while index < endIndex {
            let character = self[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted && character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            } else if character == separator, !isQuoted, parts.count < maxSplits {
                parts.append(self[start..<index])
                start = self.index(after: index)
            }
            index = self.index(after: index)
        }
        return parts + [self[start...]]
    }

    /// Without spaces and tabs at either end.
    package func trimmingBlanks() -> String {
        String(drop { $0.isBlank }.reversed().drop { $0.isBlank }.reversed())
    }
}

extension Character {
    fileprivate var isBlank: Bool { self == " " || self == "\t" }
}

extension String {
    /// What a quoted string says; itself if it is none.
    fileprivate var unquoted: String {
        guard count >= 2, first == "\"", last == "\"" else { return self }
        var text = ""
        var isEscaped = false
        for character in dropFirst().dropLast() {
            if character == "\\" && !isEscaped {
                isEscaped = true
            } else {
                text.append(character)
                isEscaped = false
            }
        }
        return text
    }
}
