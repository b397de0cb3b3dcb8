import FoundationEssentials
import HTTPTypes
import RxHTTP

/// Finds the secrets of a text by the names of their members, pairs and parts.
struct SecretFinder {
    private let bytes: [UInt8]
    private let redaction: Redaction

    init(_ bytes: [UInt8], _ redaction: Redaction) {
        self.bytes = bytes
        self.redaction = redaction
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// The first of the bytes from `start` on; the end of the text if there is none.
    private func index(of ends: Set<UInt8>, from start: Int) -> Int {
        bytes[start...].firstIndex(where: ends.contains) ?? bytes.count
    }

    // MARK: URLs and forms

    private static let ends = Set("?&#>\" \t\r\n".utf8)
    /// A text ends a URL by more: by quotes and tags of HTML and escapes of JSON.
    private static let endsInText = ends.union("\\'<`".utf8)

    /// The secrets of a URL, or of all URLs in a text.
    func url(_ names: inout Pseudonyms, isInText: Bool = false) -> TextEdits {
        let ends = isInText ? Self.endsInText : Self.ends
        let endsOfSegments = ends.union([UInt8(ascii: "/")])
        var edits = TextEdits()
        var place = 0
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            switch byte {
            case UInt8(ascii: "/") where place >= 2 && bytes[place - 2] == UInt8(ascii: "/"):
                let end = index(of: endsOfSegments, from: place)
                guard let at = bytes[place..<end].lastIndex(of: UInt8(ascii: "@")) else { break }
                let parts = text(place..<at).split(separator: ":", maxSplits: 1)
                let shown = parts.map { names.placeholder(for: $0.decodedAsForm) }
                edits.replace(place..<at, by: shown.joined(separator: ":"))
                place = at
            case UInt8(ascii: "/") where !redaction.texts.isEmpty:
                let end = index(of: endsOfSegments, from: place)
                guard redaction.texts.contains(text(place..<end)) else { break }
                edits.replace(place..<end, by: names.placeholder(for: text(place..<end)))
                place = end
            case UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: "#"):
                if isInText, bytes[place...].starts(with: "amp;".utf8) { place += 4 }
                place = pair(from: place, to: index(of: ends, from: place), &edits, &names)
            case UInt8(ascii: "\\") where isInText && bytes[place...].starts(with: "u0026".utf8):
                place = pair(from: place + 5, to: index(of: ends, from: place + 5), &edits, &names)
            default: break
            }
        }
        return edits
    }

    func form(_ names: inout Pseudonyms) -> TextEdits {
        var edits = TextEdits()
        var place = 0
        while place < bytes.count {
            let end = index(of: [UInt8(ascii: "&")], from: place)
            place = pair(from: place, to: end, &edits, &names) + 1
        }
        return edits
    }

    /// Replaces the value of a pair; returns the end of the pair.
    private func pair(
        from start: Int, to end: Int, _ edits: inout TextEdits, _ names: inout Pseudonyms
    ) -> Int {
        guard let equals = bytes[start..<end].firstIndex(of: UInt8(ascii: "=")) else {
            let name = text(start..<end).decodedAsForm
            if redaction.texts.contains(name) { edits.replace(start..<end, by: names.placeholder(for: name)) }
            return end
        }
        if redaction.hides(text(start..<equals).decodedAsForm) {
            let value = text(equals + 1..<end).decodedAsForm
            edits.replace(equals + 1..<end, by: names.placeholder(for: value))
        }
        return end
    }

    // MARK: Multipart

    func multipart(type: String?, _ names: inout Pseudonyms) -> TextEdits {
        var edits = TextEdits()
        for part in MultipartText(bytes, type: type)?.parts ?? [] {
            head(part.head, &edits, &names)
            if part.name.map({ redaction.hides($0) }) == true {
                edits.replace(part.content, by: names.placeholder(for: text(part.content)))
            } else {
                let inner = names.edits(in: Array(bytes[part.content]), type: part.type, redaction)
                edits.add(inner, at: part.content.lowerBound)
            }
        }
        return edits
    }

    /// Replaces the values of secret header fields of a part.
    private func head(_ range: Range<Int>, _ edits: inout TextEdits, _ names: inout Pseudonyms) {
        for line in bytes[range].split(whereSeparator: { $0 == 0x0D || $0 == 0x0A }) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                let name = HTTPField.Name(text(line.startIndex..<colon))
            else { continue }
            let start = line[(colon + 1)...].firstIndex { $0 != 0x20 && $0 != 0x09 } ?? line.endIndex
            let field = HTTPField(name: name, value: text(start..<line.endIndex))
            let shown = names.replaced(HTTPFields([field]), redaction).first?.value ?? field.value
            if shown != field.value { edits.replace(start..<line.endIndex, by: shown) }
        }
    }

    // MARK: JSON

    /// The values of secret members, in JSON that may be cut off, in lines of JSON, or in event streams.
    func json(_ names: inout Pseudonyms) -> TextEdits {
        var edits = TextEdits()
        var place = 0
        while place < bytes.count {
            guard bytes[place] == UInt8(ascii: "\"") else {
                place += 1
                continue
            }
            let end = endOfString(from: place, inLine: true)
            let colon = skippingBlanks(from: end)
            guard colon < bytes.count, bytes[colon] == UInt8(ascii: ":"), hides(place..<end) else {
                place = end
                continue
            }
            place = value(from: skippingBlanks(from: colon + 1), &edits, &names)
        }
        return edits
    }

    private func skippingBlanks(from start: Int) -> Int {
        bytes[start...].firstIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } ?? bytes.count
    }

    /// - Parameter inLine: whether it ends with its line at the latest. A string has no raw line break (RFC 8259 §7), so a
    ///   single quote in a text says nothing about the next line; a value is hidden to its quote even so.
    private func endOfString(from start: Int, inLine: Bool = false) -> Int {
        var place = start + 1
        while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
            if inLine, bytes[place] == 0x0A || bytes[place] == 0x0D { return place }
            place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(place + 1, bytes.count)
    }

    private func hides(_ quoted: Range<Int>) -> Bool {
        // A name with invalid escapes is hidden, although no decoder accepts the member.
        string(quoted).map { redaction.hides($0) } ?? true
    }

    /// The text of a string with its quotes.
    private func string(_ quoted: Range<Int>) -> String? {
        let inner = quoted.lowerBound + 1..<max(quoted.lowerBound + 1, quoted.upperBound - 1)
        guard bytes[inner].contains(UInt8(ascii: "\\")) else { return text(inner) }
        return try? JSONDecoder().decode(String.self, from: Data(bytes[quoted]))
    }

    /// Replaces the strings and numbers of a value; returns its end. `null`, `true` and `false` stay.
    private func value(from start: Int, _ edits: inout TextEdits, _ names: inout Pseudonyms) -> Int {
        var (place, depth) = (start, 0)
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "\""):
                let end = endOfString(from: place)
                let next = skippingBlanks(from: end)
                let isName = depth > 0 && next < bytes.count && bytes[next] == UInt8(ascii: ":")
                if !isName {
                    let secret = string(place..<end) ?? text(place..<end)
                    edits.replace(place..<end, by: "\"\(names.placeholder(for: secret))\"")
                }
                place = end
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                place += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard depth > 0 else { return place }
                depth -= 1
                place += 1
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                let end = bytes[place...].firstIndex { !Self.isInNumber($0) } ?? bytes.count
                edits.replace(place..<end, by: Self.number(for: names.placeholder(for: text(place..<end))))
                place = end
            case UInt8(ascii: ","), 0x20, 0x09, 0x0A, 0x0D: place += 1
            default: place += 1
            }
            if depth == 0, place < bytes.count, Self.isEnd(bytes[place]) { return place }
        }
        return place
    }

    private static func isEnd(_ byte: UInt8) -> Bool {
        [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]")].contains(byte)
    }

    private static func isInNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    /// A number in place of a number, so that the document still decodes.
    private static func number(for placeholder: String) -> String {
        String(placeholder.drop { !$0.isNumber })
    }
}
