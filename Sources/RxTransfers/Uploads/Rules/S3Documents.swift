import RxHTTP

/// The XML documents of multipart uploads of S3, as far as uploads read and write them. Anything else in them is
/// ignored. What the parts are is up to ``S3MultipartMachine``.
enum S3Documents {
    /// A part that the server has.
    struct Part: Sendable, Equatable {
        var number: Int
        var size: Int64?
        /// The entity tag, with its quotes.
        var tag: String
        /// The checksum in Base64, if the server computes one.
        var checksum: String?
    }

    /// The identifier in the response that creates an upload.
    static func uploadID(_ body: [UInt8]) -> String? { values(of: "UploadId", in: body[...]).first }

    /// The code of an error document; `nil` if the body is none. A server may send one with the status 200.
    static func errorCode(_ body: [UInt8]) -> String? {
        guard elements("Error", in: body[...]).first != nil else { return nil }
        return values(of: "Code", in: body[...]).first ?? "unknown"
    }

    /// The parts in a list, and where the next list begins; `nil` marker for the last list.
    static func list(
        _ body: [UInt8], _ algorithm: TransferDigest.Algorithm?
    ) -> (parts: [Part], marker: String?) {
        let parts = elements("Part", in: body[...]).compactMap { element -> Part? in
            guard let number = values(of: "PartNumber", in: element).first.flatMap({ Int($0) }),
                let tag = values(of: "ETag", in: element).first
            else { return nil }
            let checksum = algorithm.flatMap(checksumElement).flatMap { values(of: $0, in: element).first }
            return Part(
                number: number, size: values(of: "Size", in: element).first.flatMap { Int64($0) }, tag: tag,
                checksum: checksum)
        }
        let isCut = values(of: "IsTruncated", in: body[...]).first == "true"
        return (parts, isCut ? values(of: "NextPartNumberMarker", in: body[...]).first : nil)
    }

    /// The document that joins the parts.
    static func completion(_ parts: [Part], _ algorithm: TransferDigest.Algorithm?) -> [UInt8] {
        var text = #"<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">"#
        for part in parts {
            text += "<Part><PartNumber>\(part.number)</PartNumber><ETag>\(escaped(part.tag))</ETag>"
            if let checksum = part.checksum, let name = algorithm.flatMap(checksumElement) {
                text += "<\(name)>\(escaped(checksum))</\(name)>"
            }
            text += "</Part>"
        }
        return Array((text + "</CompleteMultipartUpload>").utf8)
    }

    /// The name of an algorithm in the documents; `S3MultipartMachine.name(_:)` and
    /// ``TransferDigest/checksumField(_:)`` have those in header fields.
    private static func checksumElement(_ algorithm: TransferDigest.Algorithm) -> String? {
        switch algorithm {
        case .sha256: "ChecksumSHA256"
        case .sha1: "ChecksumSHA1"
        case .crc32c: "ChecksumCRC32C"
        case .crc32: "ChecksumCRC32"
        case .crc64nvme: "ChecksumCRC64NVME"
        case .sha512, .md5: nil
        }
    }

    private static func escaped(_ text: String) -> String {
        // The ampersand comes first, as it comes last in `values(of:in:)`.
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }

    private static func values(of name: String, in bytes: ArraySlice<UInt8>) -> [String] {
        elements(name, in: bytes).map { element in
            String(decoding: element, as: UTF8.self).replacing("&quot;", with: "\"")
                .replacing("&#34;", with: "\"").replacing("&lt;", with: "<").replacing("&gt;", with: ">")
                .replacing("&amp;", with: "&")
        }
    }

    /// The contents of the elements with a name, which do not contain each other.
    private static func elements(_ name: String, in bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        let (open, close) = (Array("<\(name)>".utf8), Array("</\(name)>".utf8))
        var elements: [ArraySlice<UInt8>] = []
        var start: Int?
        var index = bytes.startIndex
        while let bracket = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
            let rest = bytes[bracket...]
            if let begun = start {
                if rest.starts(with: close) {
                    elements.append(bytes[begun..<bracket])
                    start = nil
                }
            } else if rest.starts(with: open) {
                start = bracket + open.count
            }
            index = bracket + 1
        }
        return elements
    }
}
