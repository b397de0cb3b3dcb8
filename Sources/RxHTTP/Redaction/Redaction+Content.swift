import FoundationEssentials

extension Redaction {
    /// Content with secret values replaced, according to its media type: forms, JSON, multipart and
    /// event streams, complete or truncated anywhere. Content of any other type is returned unchanged.
    public func shown(_ content: [UInt8], type: String?) -> [UInt8] {
        let media = MediaType(type)
        if media.isForm { return Array(shown(form: String(decoding: content, as: UTF8.self)).utf8) }
        if media.isMultipart { return shown(multipart: content, type: type) ?? content }
        if media.name == "text/event-stream" { return shown(eventStream: content) }
        return media.isJSON ? shown(json: content) : content
    }

    /// An event stream whose data is JSON, as in most of them. The lines of one event's data are one text.
    private func shown(eventStream content: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(content.count)
        var event = EventLines()
        var rest = content[...]
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        if rest.starts(with: byteOrderMark) {
            output += byteOrderMark
            rest = rest.dropFirst(3)
        }
        while !rest.isEmpty {
            let text = rest.prefix { $0 != 0x0A && $0 != 0x0D }
            let hasTwo = rest[text.endIndex...].starts(with: [0x0D, 0x0A])
            let line = rest.prefix(text.count + (hasTwo ? 2 : 1))
            rest = rest[line.endIndex...]
            event.append(line, text)
            if text.isEmpty { event.take(shown(json: event.data), into: &output) }
        }
        event.take(shown(json: event.data), into: &output)
        return output
    }

    /// A JSON text with the values of secret members replaced. It may be malformed or truncated.
    public func shown(json: [UInt8]) -> [UInt8] {
        var text = JSONText(bytes: json)
        var output: [UInt8] = []
        output.reserveCapacity(json.count)
        while let byte = text.current {
            guard byte == UInt8(ascii: "\"") else {
                output.append(byte)
                text.index += 1
                continue
            }
            let string = text.takeString()
            output += string
            let gap = text.takeBlanks()
            output += gap
            guard text.current == UInt8(ascii: ":"), hidesMember(string) else { continue }
            text.index += 1
            output.append(UInt8(ascii: ":"))
            output += text.takeBlanks()
            guard text.current != nil else { break }
            text.skipValue()
            output += Array("\"\(Self.mark)\"".utf8)
        }
        return output
    }

    private func hidesMember(_ quoted: ArraySlice<UInt8>) -> Bool {
        guard quoted.contains(UInt8(ascii: "\\")) else {
            return hides(String(decoding: quoted.dropFirst().dropLast(), as: UTF8.self))
        }
        // A name with invalid escapes is hidden, although no decoder accepts the member.
        guard let name = try? JSONDecoder().decode(String.self, from: Data(quoted)) else { return true }
        return hides(name)
    }
}

/// The lines of an event of an event stream.
private struct EventLines {
    private var all: [UInt8] = []
    private var others: [UInt8] = []
    private var hasData = false
    /// The data, its lines joined by line feeds.
    private(set) var data: [UInt8] = []

    /// - Parameter text: the line without its end.
    mutating func append(_ line: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) {
        all += line
        guard text.starts(with: "data:".utf8) else {
            others += line
            return
        }
        if hasData { data.append(0x0A) }
        hasData = true
        data += text.dropFirst(5)
    }

    /// Appends the event, and begins the next one.
    ///
    /// - Parameter shown: the data without secrets. If it differs, its lines come first.
    mutating func take(_ shown: [UInt8], into output: inout [UInt8]) {
        if shown == data {
            output += all
        } else {
            for line in shown.split(separator: 0x0A, omittingEmptySubsequences: false) {
                output += "data:".utf8
                output += line
                output.append(0x0A)
            }
            output += others
        }
        self = EventLines()
    }
}

/// Scans a JSON text for the ends of its members.
private struct JSONText {
    let bytes: [UInt8]
    var index = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// A string with its quotes, or the rest of a truncated one.
    mutating func takeString() -> ArraySlice<UInt8> {
        let start = index
        index += 1
        while let byte = current, byte != UInt8(ascii: "\"") {
            index += byte == UInt8(ascii: "\\") ? 2 : 1
        }
        index = min(index + 1, bytes.count)
        return bytes[start..<index]
    }

    mutating func takeBlanks() -> ArraySlice<UInt8> {
        let start = index
        while let byte = current, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { index += 1 }
        return bytes[start..<index]
    }

    /// Skips a value: a string, an object or array with all its content, or a word.
    mutating func skipValue() {
        var depth = 0
        let start = index
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                _ = takeString()
                if depth == 0 { return }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return }
                depth -= 1
                index += 1
                if depth == 0 { return }
            case UInt8(ascii: ","), 0x20, 0x09, 0x0A, 0x0D:
                if depth == 0, index > start { return }
                index += 1
            default: index += 1
            }
        }
    }
}
