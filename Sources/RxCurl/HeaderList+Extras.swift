internal import HTTPTypes
internal import RxHTTP

extension HeaderList {
    /// The header fields that the transport adds for the content.
    struct Extras: Equatable {
        var framing = TransferContent.Framing.none
        var expectsContinue = false
        var compression = Compression.identity
        var decodesContent = true

        /// The extras of a request without content.
        static let none = Extras()

        private init() {}

        init(of transfer: Transfer) {
            framing = transfer.content.framing(of: transfer.request)
            expectsContinue = transfer.expectation.wait != nil
            compression = transfer.content.length == 0 ? .identity : transfer.request.compression
            decodesContent = transfer.request.decodesContent
        }

        /// The fields as they are sent: with one field of cookies, and without codings that could not be decoded: a
        /// range applies to the coded content (RFC 9110 §14.2), and a part of coded content cannot be decoded.
        func sent(_ fields: [HTTPField]) -> [HTTPField] {
            let fields = Self.withOneCookie(fields)
            guard decodesContent, fields.contains(where: { $0.name == .range }) else { return fields }
            return fields.filter { $0.name != .acceptEncoding }
        }

        /// Joins cookies: HTTPTypes keeps each one as a separate field, but over HTTP/1.1 there must be only one
        /// field (RFC 6265 §5.4).
        private static func withOneCookie(_ fields: [HTTPField]) -> [HTTPField] {
            let cookies = fields.filter { $0.name == .cookie }
            guard cookies.count > 1 else { return fields }
            let value = cookies.map(\.value).joined(separator: "; ")
            return fields.filter { $0.name != .cookie } + [HTTPField(name: .cookie, value: value)]
        }

        /// The lines for curl. A line with only a name removes a header that curl would add to content: a
        /// form's `Content-Type`, and `Expect`, which costs a round trip or a wait of one second.
        ///
        /// `Accept-Encoding` names the codings that the transport decodes.
        func lines(besides fields: [HTTPField]) -> [String] {
            func has(_ name: HTTPField.Name) -> Bool { fields.contains { $0.name == name } }
            var lines: [String] = []
            if decodesContent, !has(.acceptEncoding) {
                lines.append("Accept-Encoding: \(has(.range) ? "identity" : ContentCoding.accepted)")
            }
            guard framing != .none else { return lines }
            lines.append(expectsContinue ? "Expect: 100-continue" : "Expect:")
            if !has(.contentType) { lines.append("Content-Type:") }
            if framing == .chunked { lines.append("Transfer-Encoding: chunked") }
            if compression == .gzip { lines.append("Content-Encoding: gzip") }
            return lines
        }
    }
}
