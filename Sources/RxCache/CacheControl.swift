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
            let name = first.trimmingBlanks().lowercasedToken()
            guard !name.isEmpty, arguments[name] == nil else { continue }
            guard parts.count == 2 else {
                arguments[name] = .some(nil)
                continue
            }
            // No space may surround the "=" (RFC 9110 §5.6.6): with a space the argument is invalid.
            let isSpaced = first.unicodeScalars.last?.isBlank == true
            let scalars = parts[1].unicodeScalars
            let argument = scalars.lastIndex { !$0.isBlank }.map { parts[1][..<scalars.index(after: $0)] }
            arguments[name] = isSpaced ? " " : String(argument ?? "").unquoted
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
        Set((argument(name) ?? "").parts(at: ",").map { $0.trimmingBlanks().lowercasedToken() })
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
    /// The parts between separators outside of quoted strings (RFC 9110 §5.6.4), found by bytes as in
    /// `parts(at:omittingEmpty:)`.
    package func splitOutsideQuotes(at separator: Unicode.Scalar, maxSplits: Int = .max) -> [SubSequence] {
        var parts: [SubSequence] = []
        var start = startIndex
        var (isQuoted, isEscaped) = (false, false)
        let bytes = utf8
        for index in bytes.indices {
            let byte = bytes[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted && byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: separator), !isQuoted, parts.count < maxSplits {
                parts.append(self[start..<index])
                start = bytes.index(after: index)
            }
        }
        return parts + [self[start...]]
    }
}

extension Unicode.Scalar {
    fileprivate var isBlank: Bool { self == " " || self == "\t" }
}

extension String {
    /// The content of a quoted string; the text itself if it is not quoted.
    fileprivate var unquoted: String {
        let quote = UInt8(ascii: "\"")
        guard utf8.count >= 2, utf8.first == quote, utf8.last == quote else { return self }
        var text = UnicodeScalarView()
        var isEscaped = false
        for scalar in unicodeScalars.dropFirst().dropLast() {
            if scalar == "\\" && !isEscaped {
                isEscaped = true
            } else {
                text.append(scalar)
                isEscaped = false
            }
        }
        return String(text)
    }
}
