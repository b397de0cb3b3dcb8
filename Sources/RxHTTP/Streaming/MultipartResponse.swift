package import FoundationEssentials
public import HTTPTypes
public import RxLite

extension Observable where Element == TransferEvent, Failure == NetworkError {
    /// The parts of a multipart response, such as `multipart/mixed` or `multipart/x-mixed-replace`, each as soon
    /// as the boundary after it has arrived (RFC 2046 §5.1).
    ///
    /// ```swift
    /// client.stream(.post("/batch", batch)).parts()
    ///     .subscribe(onNext: { part in print(part.headerFields[.contentType] ?? "", part.body.count) })
    /// ```
    ///
    /// Text before the first boundary and after the last one is skipped. A response of another type fails with
    /// `contentType`, one without a boundary of 1 to 70 bytes with `invalidResponse`, and one that ends without
    /// its closing boundary with `partialBody`; the parts before an error have been sent. If the first boundary
    /// line ends with LF instead of CR LF, so do all others.
    ///
    /// - Parameter limit: the maximum number of bytes of one part with its header section. A larger one fails
    ///   with `tooLarge`. Default 8 MiB.
    public func parts(limit: Int = 8 << 20) -> Observable<ResponsePart, NetworkError> {
        parsed { MultipartParser(limit: limit) }
    }
}

/// A part of a multipart response (RFC 2046 §5.1).
public struct ResponsePart: Sendable {
    /// The header fields of the part; empty if it has none. Lines that are not `name: value` are omitted.
    public var headerFields: HTTPFields
    /// The content, without the line end before the next boundary. Transfer encodings are not decoded.
    public var body: [UInt8]
    /// The JSON decoder of the client; `nil` if no client received the part.
    package var decoder: JSONDecoder?

    /// Creates a part.
    public init(headerFields: HTTPFields = [:], body: [UInt8]) {
        self.headerFields = headerFields
        self.body = body
    }

    /// The content as UTF-8 text; invalid bytes show as U+FFFD.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The content, decoded from JSON with the client's decoder.
    ///
    /// - Throws: ``NetworkError/Code/decoding`` with the coding path, and the content as body.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws(NetworkError) -> T {
        try (decoder ?? JSONDecoder()).decode(type, named: "the part", body)
    }
}

extension ResponsePart: RedactedDescription {
    /// One line without secrets: the header fields, as ``Redaction`` shows them, and the size of the content.
    public var description: String {
        let fields = Redaction().shown(headerFields).map { "\($0.name): \($0.value)" }
        return (fields + ["\(body.count) bytes"]).joined(separator: ", ")
    }
}

/// Splits multipart content into its parts, regardless of chunk boundaries (RFC 2046 §5.1.1).
///
/// Collects a part and examines each line once, when the line is complete.
package struct MultipartParser: BodyParser {
    private enum Section { case preamble, part, epilogue }

    private enum Boundary { case separating, closing }

    private enum LineEnd {
        case lineFeed, carriageReturnLineFeed

        var count: Int { self == .lineFeed ? 1 : 2 }
    }

    /// The most bytes of a boundary line: two hyphens on each side of 70 bytes, padding, and a line end.
    private static let longestBoundaryLine = 256

    private let limit: Int
    private var type = ""
    /// Two hyphens and the boundary; `nil` before the head, and if the head names no valid boundary.
    private var delimiter: [UInt8]?
    private var decoder: JSONDecoder?
    private var section = Section.preamble
    /// The part so far; in the preamble, the current line.
    private var bytes: [UInt8] = []
    /// The start of the current line.
    private var lineStart = 0
    /// The end of the line before the current one.
    private var lastEnd = LineEnd.carriageReturnLineFeed
    /// The line end of the first boundary line, and of all others.
    private var ownEnd = LineEnd.carriageReturnLineFeed
    /// The start of the part's content, after the blank line.
    private var contentStart: Int?
    /// Whether the current line of the preamble is longer than any boundary line.
    private var isLong = false

    /// - Parameter limit: the most bytes of one part with its header section.
    package init(limit: Int) { self.limit = min(max(0, limit), .max / 2) }

    package mutating func begin(_ head: ResponseHead) {
        type = head[.contentType] ?? ""
        decoder = head.decoder
        guard MediaType(type).isMultipart, let boundary = MultipartText.boundary(in: type) else { return }
        delimiter = Array("--\(boundary)".utf8)
    }

    package mutating func read(_ chunk: [UInt8], into found: inout [ResponsePart]) throws(NetworkError) {
        let delimiter = try checkedDelimiter()
        var rest = chunk[...]
        while section != .epilogue, let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            try append(rest[...end])
            rest = rest[(end + 1)...]
            try takeLine(delimiter, &found)
        }
        if section != .epilogue { try append(rest) }
    }

    package mutating func finish(into found: inout [ResponsePart]) throws(NetworkError) {
        let delimiter = try checkedDelimiter()
        // The closing boundary needs no line end.
        if boundary(delimiter, in: bytes[lineStart...].withoutCarriageReturn, nil) == .closing {
            try leave(&found)
            section = .epilogue
        }
        guard section == .epilogue else {
            throw NetworkError(.partialBody, "the body ended without its closing boundary")
        }
    }

    private func checkedDelimiter() throws(NetworkError) -> [UInt8] {
        if let delimiter { return delimiter }
        guard MediaType(type).isMultipart else {
            throw NetworkError(.contentType, "the response is not multipart but \(type.debugDescription)")
        }
        throw NetworkError(.invalidResponse, "the multipart response names no valid boundary")
    }

    private mutating func append(_ new: ArraySlice<UInt8>) throws(NetworkError) {
        guard section == .part else {
            if !isLong { bytes += new }
            isLong = isLong || bytes.count > Self.longestBoundaryLine
            if isLong { bytes.removeAll(keepingCapacity: true) }
            return
        }
        bytes += new
        guard bytes.count <= limit + Self.longestBoundaryLine else { throw tooLarge }
    }

    private var tooLarge: NetworkError {
        NetworkError(.tooLarge, "a part of the response is larger than \(limit) bytes")
    }

    /// Takes the complete line from ``lineStart`` on.
    private mutating func takeLine(
        _ delimiter: [UInt8], _ found: inout [ResponsePart]
    ) throws(NetworkError) {
        let whole = bytes[lineStart...].dropLast()
        let line = whole.withoutCarriageReturn
        let end = line.count < whole.count ? LineEnd.carriageReturnLineFeed : .lineFeed
        if let boundary = boundary(delimiter, in: line, end) {
            if section == .preamble { ownEnd = end }
            try leave(&found)
            section = boundary == .closing ? .epilogue : .part
            return
        }
        lastEnd = end
        if section == .part {
            if contentStart == nil, line.isEmpty { contentStart = bytes.count }
            lineStart = bytes.count
        } else {
            bytes.removeAll(keepingCapacity: true)
            isLong = false
        }
    }

    /// The boundary that the current line is, without its line end `end`; `nil` if it is none.
    private func boundary(_ delimiter: [UInt8], in line: ArraySlice<UInt8>, _ end: LineEnd?) -> Boundary? {
        switch section {
        case .preamble where !isLong: break
        case .part where ownEnd == .lineFeed: break
        case .part where lastEnd == .carriageReturnLineFeed && end != .lineFeed: break
        default: return nil
        }
        guard line.starts(with: delimiter) else { return nil }
        var rest = line.dropFirst(delimiter.count)
        let closes = rest.starts(with: "--".utf8)
        if closes { rest = rest.dropFirst(2) }
        guard closes || end != nil, rest.allSatisfy(\.isPadding) else { return nil }
        return closes ? .closing : .separating
    }

    /// Ends the current part, if any, at the boundary line from ``lineStart`` on.
    private mutating func leave(_ found: inout [ResponsePart]) throws(NetworkError) {
        defer {
            bytes.removeAll(keepingCapacity: true)
            lineStart = 0
            lastEnd = ownEnd
            contentStart = nil
        }
        guard section == .part else { return }
        // The line end before the boundary belongs to it.
        let end = max(0, lineStart - ownEnd.count)
        guard end <= limit else { throw tooLarge }
        let start = contentStart ?? end
        let head = ResponseHead(
            status: .ok, fieldLines: Array(bytes[..<min(start, lineStart)]))
        var part = ResponsePart(
            headerFields: head.headerFields, body: start < end ? Array(bytes[start..<end]) : [])
        part.decoder = decoder
        found.append(part)
    }
}

extension ArraySlice<UInt8> {
    /// The bytes without a CR at the end.
    fileprivate var withoutCarriageReturn: Self { last == UInt8(ascii: "\r") ? dropLast() : self }
}

extension UInt8 {
    /// Whether it may follow a boundary on its line (`LWSP-char`).
    fileprivate var isPadding: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
