import HTTPTypes
import RxLite

/// A form with several parts, `multipart/form-data` (RFC 7578): texts, bytes and files.
///
/// ```swift
/// let form = Multipart([
///     .text("title", "Green tea"),
///     .file("photo", "/srv/photos/tea.jpg", contentType: "image/jpeg"),
/// ])
/// ```
///
/// Files are read from disk while they are sent. The total length is known in advance unless a part is a
/// stream of unknown length. The form can be sent again if all of its parts can.
///
/// Names and file names are sent in UTF-8, with `"` as `%22`, as browsers write it (WHATWG HTML §4.10.21.8).
/// A name with CR, LF or NUL, and an invalid boundary, fail with ``NetworkError/Code/invalidParameters``
/// before anything is sent.
public struct Multipart: Sendable {
    /// The parts, in the order in which they are sent.
    public let parts: [Part]
    /// The separator between the parts.
    public let boundary: String

    /// Creates a form with a random boundary that does not occur in the parts in memory.
    public init(_ parts: [Part]) {
        var generator = RandomSource()
        self.init(parts, using: &generator)
    }

    /// Creates a form with a boundary from `generator` that does not occur in the parts in memory.
    public init(_ parts: [Part], using generator: inout some RandomNumberGenerator) {
        var boundary: String
        repeat {
            boundary =
                "form-"
                + (0..<32).map { _ in
                    String(Self.alphabet[Int.random(in: 0..<Self.alphabet.count, using: &generator)])
                }.joined()
        } while parts.contains { $0.holds(boundary) }
        self.init(parts, boundary: boundary)
    }

    /// Creates a form with the given boundary: 1 to 70 letters, digits and certain punctuation (RFC 2046
    /// §5.1.1). A boundary that occurs in a part in memory fails when the form is sent.
    public init(_ parts: [Part], boundary: String) {
        self.parts = parts
        self.boundary = boundary
    }

    private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")

    /// The value of `Content-Type`.
    public var contentType: String {
        let isToken = boundary.utf8.allSatisfy { $0.isTokenByte }
        return "multipart/form-data; boundary=" + (isToken ? boundary : "\"\(boundary)\"")
    }

    /// The form as a body. The caller sets ``contentType`` on the request.
    ///
    /// - Throws: `invalidParameters`, with the part that cannot be sent and the reason.
    public func body() throws(NetworkError) -> Body {
        try checkBoundary()
        var segments: [Segment] = []
        for part in parts {
            segments.append(memory: Array("--\(boundary)\r\n".utf8) + Array(try part.head().utf8))
            switch part.body {
            case .empty: break
            case .bytes(let bytes): segments.append(memory: bytes)
            case .streamed(let body): segments.append(.streamed(body))
            }
            segments.append(memory: [0x0D, 0x0A])
        }
        segments.append(memory: Array("--\(boundary)--\r\n".utf8))
        if segments.count == 1, case .memory(let bytes) = segments[0] { return .bytes(bytes) }
        return .streamed(StreamedBody(segments))
    }

    private func checkBoundary() throws(NetworkError) {
        let signs = Array("'()+_,-./:=? ".utf8)
        let isLegal = boundary.utf8.allSatisfy { $0.isLetterOrDigit || signs.contains($0) }
        guard isLegal, (1...70).contains(boundary.utf8.count), boundary.last != " " else {
            throw NetworkError(
                .invalidParameters, "\(boundary.debugDescription) is not a valid multipart boundary")
        }
        if let part = parts.first(where: { $0.holds(boundary) }) {
            throw NetworkError(
                .invalidParameters, "the boundary occurs in the part \(part.name.debugDescription)")
        }
    }
}

extension Multipart {
    /// One part of a ``Multipart`` form.
    public struct Part: Sendable {
        /// The name of the form's field.
        public var name: String
        /// The file name that the server receives; it makes the part a file.
        public var fileName: String?
        /// The MIME type of the content; `nil` omits it, which means plain text.
        public var contentType: String?
        /// Header fields of the part besides `Content-Disposition` and `Content-Type`, which the other properties
        /// define. Servers may ignore them (RFC 7578 §4.8).
        public var headers: Headers
        /// The content.
        public var body: Body

        /// Creates a part.
        public init(
            _ name: String, _ body: Body, fileName: String? = nil, contentType: String? = nil,
            headers: Headers = [:]
        ) {
            self.name = name
            self.body = body
            self.fileName = fileName
            self.contentType = contentType
            self.headers = headers
        }

        /// A text field, in UTF-8.
        public static func text(_ name: String, _ text: String, headers: Headers = [:]) -> Part {
            Part(name, .text(text), headers: headers)
        }

        /// Bytes in memory.
        ///
        /// - Parameters:
        ///   - fileName: the file name that the server receives. Default `name`.
        ///   - contentType: the MIME type. Default `application/octet-stream`.
        public static func bytes(
            _ name: String, _ bytes: [UInt8], fileName: String? = nil,
            contentType: String = "application/octet-stream", headers: Headers = [:]
        ) -> Part {
            Part(name, .bytes(bytes), fileName: fileName ?? name, contentType: contentType, headers: headers)
        }

        /// A file, read from disk while it is sent; see ``Body/file(_:range:)``.
        ///
        /// - Parameters:
        ///   - fileName: the file name that the server receives. Default the last component of `path`.
        ///   - contentType: the MIME type. Default `application/octet-stream`.
        public static func file(
            _ name: String, _ path: String, fileName: String? = nil,
            contentType: String = "application/octet-stream", headers: Headers = [:]
        ) -> Part {
            let last = path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) }
            return Part(
                name, .file(path), fileName: fileName ?? last ?? name, contentType: contentType,
                headers: headers)
        }
    }
}

extension Multipart.Part: RedactedDescription {
    /// Name, file name, type and size; never the content.
    public var description: String {
        var parts = [name.debugDescription]
        if let fileName { parts.append("file \(fileName.debugDescription)") }
        if let contentType { parts.append(contentType) }
        if !headers.fields.isEmpty { parts.append("\(headers)") }
        return (parts + ["\(body)"]).joined(separator: ", ")
    }
}

extension Multipart.Part {
    /// The header fields of the part and the empty line after them.
    ///
    /// - Throws: `invalidParameters` for text that a header field cannot carry.
    func head() throws(NetworkError) -> String {
        var head = "Content-Disposition: form-data; name=\"\(try Self.quotable(name, "name", of: self))\""
        if let fileName { head += "; filename=\"\(try Self.quotable(fileName, "file name", of: self))\"" }
        if let contentType {
            guard HTTPField.isValidValue(contentType), !contentType.isEmpty,
                contentType.utf8.allSatisfy({ $0 < 0x80 })
            else { throw flaw("\(contentType.debugDescription) is not a valid content type") }
            head += "\r\nContent-Type: \(contentType)"
        }
        for field in headers.fields {
            guard let name = HTTPField.Name(field.name), field.value?.isFieldValue != false else {
                throw flaw("\(field.name.debugDescription) is not a valid header field")
            }
            guard name.canonicalName != "content-disposition", name != .contentType else {
                throw flaw("\(name) is set by the part's other properties and cannot be added")
            }
            if let value = field.value { head += "\r\n\(name.rawName): \(value)" }
        }
        return head + "\r\n\r\n"
    }

    /// The text with `"` as `%22`; ``MultipartText`` reads names back in this form.
    private static func quotable(
        _ text: String, _ kind: String, of part: Multipart.Part
    ) throws(NetworkError) -> String {
        guard text.utf8.allSatisfy({ $0 != 0 && $0 != 0x0A && $0 != 0x0D }) else {
            throw part.flaw("its \(kind) contains CR, LF or NUL")
        }
        guard text.utf8.contains(0x22) else { return text }
        // By bytes: a quote and a combining mark after it are one `Character`.
        let parts = text.utf8.split(separator: 0x22, omittingEmptySubsequences: false)
        return parts.map { Substring($0) }.joined(separator: "%22")
    }

    private func flaw(_ message: String) -> NetworkError {
        NetworkError(.invalidParameters, "form part \(name.debugDescription): \(message)")
    }

    /// Whether the part is in memory and contains the text.
    func holds(_ text: String) -> Bool {
        guard case .bytes(let bytes) = body else { return false }
        return bytes.firstOffset(of: Array(text.utf8)) != nil
    }
}

extension UInt8 {
    var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }

    /// Whether it is a `tchar` of RFC 9110 §5.6.2.
    var isTokenByte: Bool { isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(self) }
}

extension [UInt8] {
    /// The offset of the first occurrence of `pattern` from `start` on, and before `limit` as a whole, by Horspool's
    /// algorithm, which inspects about every n-th byte where a pattern of n bytes rarely occurs.
    package func firstOffset(of pattern: [UInt8], from start: Int = 0, to limit: Int? = nil) -> Int? {
        guard let last = pattern.last else { return start }
        var steps = [Int](repeating: pattern.count, count: 256)
        for (index, byte) in pattern.dropLast().enumerated() { steps[Int(byte)] = pattern.count - 1 - index }
        let limit = limit ?? count
        var end = start + pattern.count
        while end <= limit {
            let byte = self[end - 1]
            if byte == last, self[(end - pattern.count)..<end].elementsEqual(pattern) {
                return end - pattern.count
            }
            end += steps[Int(byte)]
        }
        return nil
    }
}

/// A segment of a form as it is sent: a run of bytes in memory, or one streamed part.
enum Segment: Sendable {
    case memory([UInt8])
    case streamed(StreamedBody)
}

extension [Segment] {
    /// Appends bytes to the last segment if it is in memory, otherwise as a new segment.
    mutating func append(memory bytes: [UInt8]) {
        guard case .memory(var last) = last else { return append(.memory(bytes)) }
        removeLast()
        last += bytes
        append(.memory(last))
    }
}

extension StreamedBody {
    /// The segments in order. The length is known if that of every segment is known.
    init(_ segments: [Segment]) {
        let isReplayable = segments.allSatisfy {
            if case .streamed(let body) = $0 { body.isReplayable } else { true }
        }
        let count = segments.reduce(Optional(Int64(0))) { sum, segment in
            switch segment {
            case .memory(let bytes): sum.map { $0 + Int64(bytes.count) }
            case .streamed(let body): body.count.flatMap { count in sum.flatMap { $0.adding(count) } }
            }
        }
        self.init(isReplayable: isReplayable, count: count) { files in
            let contents = segments.map { segment -> Observable<Content, NetworkError> in
                switch segment {
                case .memory(let bytes):
                    .just(Content(length: Int64(bytes.count), exactly: .just(bytes)))
                case .streamed(let body): body.open(files)
                }
            }
            return Observable.concat(contents).collect().map(Content.init(joining:))
        }
    }
}

extension StreamedBody.Content {
    fileprivate init(joining contents: [StreamedBody.Content]) {
        length = contents.reduce(Optional(Int64(0))) { sum, content in
            content.length.flatMap { length in sum.flatMap { $0.adding(length) } }
        }
        chunks = .concat(contents.map(\.chunks))
    }
}

extension Int64 {
    /// `nil` on overflow.
    fileprivate func adding(_ other: Int64) -> Int64? {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? nil : sum
    }
}

extension Multipart: RedactedDescription {
    /// The descriptions of the parts.
    public var description: String {
        "form of " + parts.map { "(\($0))" }.joined(separator: ", ")
    }
}
