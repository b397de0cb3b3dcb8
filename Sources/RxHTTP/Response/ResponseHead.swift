package import FoundationEssentials
public import HTTPTypes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The status line and header section of a response.
///
/// The header section is kept as received and parsed on demand, since most callers read only one or two fields.
public struct ResponseHead: Sendable {
    /// The status code and reason.
    public var status: HTTPResponse.Status
    /// The field lines as received, each ending in CR LF or LF.
    public let fieldLines: [UInt8]
    /// The HTTP version of the exchange; `nil` if unknown.
    public var httpVersion: HTTPVersion?

    /// The JSON decoder of the client that received this head; `nil` if no client did.
    package var decoder: JSONDecoder?

    /// Receives an incomplete last value of the body; `nil` if the end of the body completes it.
    package var remainder: BodyRemainder?

    /// The most fields to parse. `HTTPFields` stops the process at one more.
    package static let maxFields = Int(UInt16.max) - 1

    /// Creates a head from the field lines as received, each ending in CR LF or LF, without the status line.
    public init(status: HTTPResponse.Status, fieldLines: [UInt8], httpVersion: HTTPVersion? = nil) {
        self.status = status
        self.fieldLines = fieldLines
        self.httpVersion = httpVersion
    }

    /// Creates a head from fields.
    public init(
        status: HTTPResponse.Status, headerFields: HTTPFields = [:], httpVersion: HTTPVersion? = nil
    ) {
        var block: [UInt8] = []
        for field in headerFields {
            block += Array("\(field.name.rawName): \(field.value)\r\n".utf8)
        }
        self.init(status: status, fieldLines: block, httpVersion: httpVersion)
    }

    /// All fields in the order received, parsed at each call. Lines that are not `name: value` with a valid
    /// name are omitted (RFC 9112 §5), as are fields after the first 65,534.
    public var headerFields: HTTPFields {
        var fields = HTTPFields()
        for (name, value) in lines {
            guard fields.count < Self.maxFields else { break }
            guard let name = HTTPField.Name(String(decoding: name, as: UTF8.self)) else { continue }
            fields.append(HTTPField(name: name, value: String(decoding: value, as: UTF8.self)))
        }
        return fields
    }

    /// The value of a field, with repeated fields joined by `, ` (RFC 9110 §5.3); `nil` if it is missing.
    public subscript(name: HTTPField.Name) -> String? {
        var wanted = name.canonicalName
        var found: String?
        let isFolded = wanted.withUTF8 { wanted in unsafe addValues(of: wanted, to: &found) }
        guard isFolded else { return found }
        found = nil
        for line in unfoldedLines {
            if let value = line.value(of: wanted.utf8) {
                Self.add(String(decoding: value, as: UTF8.self), to: &found)
            }
        }
        return found
    }

    /// Adds a value of a field to those before it, in place, because a field may occur thousands of times.
    private static func add(_ value: String, to found: inout String?) {
        if found == nil { found = value } else { found? += ", " + value }
    }

    /// Adds each value of a field, whose name is given in lower case, to `found`. It reads the bytes in place, because each
    /// response is asked for a field or two.
    ///
    /// - Returns: whether there are folded lines, in which case `found` is invalid.
    private func addValues(of name: UnsafeBufferPointer<UInt8>, to found: inout String?) -> Bool {
        unsafe fieldLines.withUnsafeBufferPointer { bytes in
            var start = 0
            while start < bytes.count {
                if start > 0, unsafe bytes[start].isBlank { return true }
                let end = unsafe bytes.index(ofLineEndFrom: start)
                if start + name.count < end, unsafe bytes[start + name.count] == UInt8(ascii: ":"),
                    name.indices.allSatisfy({ unsafe bytes[start + $0].lowercased == name[$0] })
                {
                    Self.add(unsafe bytes.fieldValue(start + name.count + 1, end), to: &found)
                }
                start = end + 1
            }
            return false
        }
    }

    /// The values of a field whose content is a URL, with bytes that are not ASCII escaped: they need not be
    /// text.
    func escapedValues(of name: HTTPField.Name) -> [String] {
        let wanted = name.canonicalName.utf8
        return lines.filter { line in
            line.name.count == wanted.count
                && zip(line.name, wanted).allSatisfy { $0.lowercased == $1 }
        }.map { line in
            line.value.map { byte in
                byte < 0x80
                    ? String(UnicodeScalar(byte))
                    : "%" + String(byte, radix: 16, uppercase: true)
            }.joined()
        }
    }

    private var lines: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] {
        unfoldedLines.compactMap { line in
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            return (line[..<colon], line[(colon + 1)...].fieldValue)
        }
    }

    /// The lines, where a line that begins with a space or tab continues the line before (obs-fold, RFC 9112
    /// §5.2).
    private var unfoldedLines: [ArraySlice<UInt8>] {
        let lines = fieldLines.split(separator: UInt8(ascii: "\n"))
        guard lines.contains(where: { $0.first?.isBlank == true }) else { return lines }
        var unfolded: [ArraySlice<UInt8>] = []
        var index = 0
        while index < lines.count {
            let first = index
            repeat { index += 1 } while index < lines.count && lines[index].first?.isBlank == true
            let parts = lines[first..<index]
            // Joins all continuations of a line at once, so that each byte is copied once.
            unfolded.append(
                parts.count == 1
                    ? lines[first]
                    : ArraySlice(
                        parts.map { $0.trimmingOptionalWhitespace() }
                            .joined(separator: CollectionOfOne(UInt8(ascii: " ")))))
        }
        return unfolded
    }
}

extension ResponseHead: RedactedDescription {
    /// One line without secrets: the status and the fields, as ``Redaction`` shows them.
    public var description: String {
        let fields = Redaction().shown(headerFields).map { "\($0.name): \($0.value)" }
        return (["\(status.code)"] + fields).joined(separator: ", ")
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The index of the next line feed, or the end.
    fileprivate func index(ofLineEndFrom start: Int) -> Int {
        guard let base = baseAddress,
            let found = unsafe memchr(base + start, Int32(UInt8(ascii: "\n")), count - start)
        else { return count }
        return unsafe UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }

    /// The text between two indices as a value: without spaces, tabs and CR at either end (OWS, RFC 9110 §5.6.3), and
    /// with a space for each CR within, which must not be passed on (§5.5).
    fileprivate func fieldValue(_ start: Int, _ end: Int) -> String {
        func isKept(_ byte: UInt8) -> Bool { !byte.isBlank && byte != UInt8(ascii: "\r") }
        var (start, end) = (start, end)
        while start < end, unsafe !isKept(self[start]) { start += 1 }
        while start < end, unsafe !isKept(self[end - 1]) { end -= 1 }
        let value = unsafe UnsafeBufferPointer(rebasing: self[start..<end])
        guard unsafe value.contains(UInt8(ascii: "\r")) else {
            return unsafe String(decoding: value, as: UTF8.self)
        }
        return String(
            decoding: unsafe value.map { $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// ASCII letters in lower case, all else unchanged.
    fileprivate var lowercased: UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self
    }
}

extension ArraySlice<UInt8> {
    /// The value after the name and its colon, if the line is the field of that name, given in lower case.
    fileprivate func value(of name: String.UTF8View) -> ArraySlice<UInt8>? {
        let colon = startIndex + name.count
        guard colon < endIndex, self[colon] == UInt8(ascii: ":"),
            unsafe name.withContiguousStorageIfAvailable({ unsafe self[..<colon].isLowercased($0) })
                ?? self[..<colon].isLowercased(name)
        else { return nil }
        return self[(colon + 1)...].fieldValue
    }

    /// Whether the bytes, in lower case, are equal to `name`.
    private func isLowercased(_ name: some Sequence<UInt8>) -> Bool {
        elementsEqual(name, by: { $0.lowercased == $1 })
    }

    fileprivate var fieldValue: ArraySlice<UInt8> { trimmingOptionalWhitespace().withoutCarriageReturns }

    /// The value with a space for each CR that does not end a line; a CR must not be passed on (RFC 9110
    /// §5.5).
    fileprivate var withoutCarriageReturns: ArraySlice<UInt8> {
        guard contains(UInt8(ascii: "\r")) else { return self }
        return ArraySlice(map { $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0 })
    }

    /// The bytes without spaces, tabs and CR at either end (OWS, RFC 9110 §5.6.3).
    fileprivate func trimmingOptionalWhitespace() -> ArraySlice<UInt8> {
        func isKept(_ byte: UInt8) -> Bool { !byte.isBlank && byte != UInt8(ascii: "\r") }
        guard let first = firstIndex(where: isKept), let last = lastIndex(where: isKept) else { return [] }
        return self[first...last]
    }
}

extension ResponseHead {
    /// Whether the delivered body differs from the body on the wire by a content coding (RFC 9110 §8.4).
    package var isCoded: Bool {
        guard let coding = self[.contentEncoding] else { return false }
        return coding.lowercasedToken() != "identity"
    }

    /// The announced length of the body; `nil` if it is missing or malformed.
    package var contentLength: Int64? {
        guard let text = self[.contentLength], !text.isEmpty,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int64(text)
    }
}

/// Encoded as status, reason, the field lines as received, and the version.
extension ResponseHead: Codable {
    private enum CodingKeys: String, CodingKey {
        // Caches on disk contain heads in this form.
        case code, reason, fieldLines, httpVersion
    }

    /// Decodes a head encoded by ``encode(to:)``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let code = try container.decode(Int.self, forKey: .code)
        guard (0...999).contains(code) else {
            throw DecodingError.dataCorruptedError(
                forKey: .code, in: container, debugDescription: "\(code) is not a status code")
        }
        let reason = try container.decode(String.self, forKey: .reason)
        let fieldLines = try container.decode(Data.self, forKey: .fieldLines)
        let version = try container.decodeIfPresent(String.self, forKey: .httpVersion)
        self.init(
            status: .init(code: code, reasonPhrase: reason), fieldLines: Array(fieldLines),
            httpVersion: version.flatMap { HTTPVersion($0) })
    }

    /// Encodes status, reason, field lines and version.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(status.code, forKey: .code)
        try container.encode(status.reasonPhrase, forKey: .reason)
        try container.encode(Data(fieldLines), forKey: .fieldLines)
        try container.encodeIfPresent(httpVersion?.description, forKey: .httpVersion)
    }
}
