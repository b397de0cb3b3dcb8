package import FoundationEssentials
import RxHTTP

/// The directives of a `Cache-Control` field (RFC 9111 §5.2).
///
/// Names are case-insensitive. The first of several directives with the same name counts (RFC 9111 §4.2.1).
package struct CacheControl {
    private var arguments: [String: String?] = [:]

    /// Reads a field; `nil` has no directives.
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
            // No space may surround the "=" (RFC 9110 §5.6.6): with a space the argument is invalid.
            let isSpaced = first.last?.isBlank == true
            let argument = Substring(parts[1].reversed().drop { $0.isBlank }.reversed())
            arguments[name] = isSpaced ? " " : String(argument).unquoted
        }
    }

    /// Whether a directive is present, with or without an argument.
    package func has(_ name: String) -> Bool { arguments[name] != nil }

    /// The argument of a directive.
    package func argument(_ name: String) -> String? { arguments[name] ?? nil }

    /// The number of seconds of a directive, at most 2³¹ (RFC 9111 §1.2.2); `nil` if the directive is absent.
    ///
    /// - Parameter invalid: the value for a directive with an invalid argument, or with none.
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
    /// Reads a text of digits only; larger numbers count as 2³¹ (RFC 9111 §1.2.2).
    package init?(deltaSeconds text: String) {
        guard !text.isEmpty, text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
            return nil
        }
        self = Double(min(Int(text) ?? .max, 1 << 31))
    }
}

extension StringProtocol {
    /// The parts between separators outside of quoted strings (RFC 9110 §5.6.4).
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
}

extension Character {
    fileprivate var isBlank: Bool { self == " " || self == "\t" }
}

extension String {
    /// The content of a quoted string; the text itself if it is not quoted.
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
