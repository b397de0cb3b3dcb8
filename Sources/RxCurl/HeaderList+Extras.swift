internal import CLibcurl
internal import HTTPTypes
internal import RxHTTP

extension HeaderList {
    /// What the transport has to say of the content in the header fields.
    struct Extras: Equatable {
        var framing: TransferContent.Framing
        var expectsContinue: Bool
        var compression: Compression

        /// Those of a request without content.
        static let none = Extras(framing: .none, expectsContinue: false, compression: .none)

        init(framing: TransferContent.Framing, expectsContinue: Bool, compression: Compression) {
            self.framing = framing
            self.expectsContinue = expectsContinue
            self.compression = compression
        }

        init(of transfer: Transfer) {
            framing = transfer.content.framing(of: transfer.request)
            expectsContinue = transfer.continueWait != nil
            compression = transfer.content.length == 0 ? .none : transfer.request.compression
        }

        /// Lines as curl takes them. A name alone takes out what curl would add to content by itself: a form's
        /// `Content-Type`, and `Expect`, which costs a round trip or a second's wait.
        ///
        /// `Accept-Encoding` is said here too: curl would make its line anew for each request, which takes it longer
        /// than sending one.
        func lines(besides fields: [HTTPField]) -> [String] {
            func has(_ name: HTTPField.Name) -> Bool { fields.contains { $0.name == name } }
            var lines: [String] = []
            if !has(.acceptEncoding), let codings = Self.acceptedCodings {
                lines.append("Accept-Encoding: \(codings)")
            }
            guard framing != .none else { return lines }
            lines.append(expectsContinue ? "Expect: 100-continue" : "Expect:")
            if !has(.contentType) { lines.append("Content-Type:") }
            if framing == .chunked { lines.append("Transfer-Encoding: chunked") }
            if compression == .gzip { lines.append("Content-Encoding: gzip") }
            return lines
        }

        /// What the libcurl that runs decodes, as it would say it (`CURLOPT_ACCEPT_ENCODING` of an empty string).
        private static let acceptedCodings: String? = {
            guard let info = unsafe curl_version_info(CURLVERSION_FIRST) else { return nil }
            let known = [
                (CURL_VERSION_LIBZ, "deflate, gzip"), (CURL_VERSION_BROTLI, "br"),
                (CURL_VERSION_ZSTD, "zstd"),
            ]
            let codings = known.filter { unsafe info.pointee.features & $0.0 != 0 }.map(\.1)
            return codings.isEmpty ? nil : codings.joined(separator: ", ")
        }()
    }
}
