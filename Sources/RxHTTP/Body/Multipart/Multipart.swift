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
        var generator = Chance()
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
