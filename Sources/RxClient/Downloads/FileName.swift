import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxParameters

/// The name of a downloaded file in its folder: from `Content-Disposition` (RFC 6266), else from the URL.
///
/// A server can only name a new, visible file of that folder, whatever it sends: the name is the last component of a
/// path, has no separators, control characters, direction overrides, leading dots or trailing dots, no ending of a
/// partial file, and at most 255 bytes.
struct FileName: Equatable {
    /// The name, never empty.
    let text: String

    /// The most bytes of a name, in most file systems.
    static let sizeLimit = 255

    /// The name by the head of a response: `filename*`, else `filename`, else the last component of the path of `url`,
    /// else `download`.
    init(_ head: ResponseHead, from url: URL) {
        let field = ContentDisposition(head[.contentDisposition] ?? "")
        let component = url.path(percentEncoded: true).split(separator: "/").last.map(String.init) ?? ""
        let names = [field.extendedName, field.name, component.percentDecoded]
        self = names.lazy.compactMap { $0.flatMap(FileName.init(safe:)) }.first ?? FileName(text: "download")
    }

    /// The safe part of a name; `nil` if nothing of it is left.
    init?(safe name: String) {
        let last = name.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last ?? Substring().unicodeScalars
        let scalars = last.filter { !Self.isUnsafe($0) }.drop(while: Self.isPadding)
        let whole = Self.withoutEnd(of: String(String.UnicodeScalarView(scalars)))
        var text = Self.withoutEnd(of: Self.limited(whole, with: ""))
        // Otherwise a server could lay a partial file for another download. `ReservedFile` has the same
        // endings. By bytes, as file systems compare: a dot and the character before it may be one `Character`.
        while let ending = [".part", ".part.json"].first(where: { Self.ends(text, with: $0) }) {
            text = Self.withoutEnd(of: String(text.unicodeScalars.dropLast(ending.count)))
        }
        guard !text.isEmpty else { return nil }
        self.init(text: text)
    }

    private init(text: String) { self.text = text }

    /// The name with a number before its extension: `map (2).osm`.
    func numbered(_ number: Int) -> String { Self.limited(text, with: " (\(number))") }

    /// The text without dots and blanks at its end.
    private static func withoutEnd(of text: String) -> String {
        let end = text.unicodeScalars.lastIndex { !isPadding($0) }
        return end.map { String(text.unicodeScalars[...$0]) } ?? ""
    }

    private static func ends(_ text: String, with ending: String) -> Bool {
        text.lowercased().utf8.reversed().starts(with: ending.utf8.reversed())
    }

    private static func isPadding(_ scalar: UnicodeScalar) -> Bool {
        scalar == "." || scalar.properties.isWhitespace
    }

    /// Control characters, among them NUL; separators of lines and paragraphs; and the embeddings, overrides and
    /// isolates that make text appear in another order.
    private static func isUnsafe(_ scalar: UnicodeScalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069, 0x2028, 0x2029: true
        default: false
        }
    }

    /// The name with an addition before its extension, shortened before the addition.
    private static func limited(_ name: String, with addition: String) -> String {
        var (stem, ending) = (name[...], addition[...])
        if let dot = name.lastIndex(of: "."), dot > name.startIndex, name[dot...].utf8.count <= 32 {
            stem = name[..<dot]
            ending += name[dot...]
        }
        var room = sizeLimit - ending.utf8.count
        let end = stem.unicodeScalars.indices.first { index in
            room -= UTF8.width(stem.unicodeScalars[index])
            return room < 0
        }
        return String(stem[..<(end ?? stem.endIndex)]) + ending
    }
}

/// The names in a `Content-Disposition` field.
private struct ContentDisposition {
    /// The value of `filename`.
    var name: String?
    /// The decoded value of `filename*` (RFC 8187).
    var extendedName: String?

    /// Reads a field of any form; of several parameters with one name the first counts.
    init(_ field: String) {
        let bytes = Array(field.utf8)
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        func end(from start: Int, _ isEnd: (UInt8) -> Bool) -> Int {
            bytes[start...].firstIndex(where: isEnd) ?? bytes.count
        }
        var index = end(from: 0) { $0 == UInt8(ascii: ";") }
        while index < bytes.count {
            let start = end(from: index + 1) { !isBlank($0) }
            let equals = end(from: start) { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ";") }
            index = equals
            guard equals < bytes.count, bytes[equals] == UInt8(ascii: "=") else { continue }
            let name = String(decoding: bytes[start..<equals], as: UTF8.self).trimmingBlanks()
            index = end(from: equals + 1) { !isBlank($0) }
            let value: String
            if index < bytes.count, bytes[index] == UInt8(ascii: "\"") {
                value = QuotedString.read(from: bytes, at: &index)
                index = end(from: index) { $0 == UInt8(ascii: ";") }
            } else {
                let next = end(from: index) { $0 == UInt8(ascii: ";") }
                value = String(String(decoding: bytes[index..<next], as: UTF8.self).trimmingBlanks())
                index = next
            }
            switch name.lowercasedToken() {
            case "filename": self.name = self.name ?? value
            case "filename*": extendedName = extendedName ?? Self.decoded(value)
            default: break
            }
        }
    }

    /// The text of `charset'language'percent-encoded`, in UTF-8 or ISO-8859-1.
    private static func decoded(_ value: String) -> String? {
        let quote = UInt8(ascii: "'")
        let parts = value.utf8.split(separator: quote, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var bytes: [UInt8] = []
        var rest = parts[2]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst()?.hexDigitValue, let low = rest.popFirst()?.hexDigitValue else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        switch Substring(parts[0]).lowercasedToken() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { UnicodeScalar($0) }))
        default: return nil
        }
    }
}
