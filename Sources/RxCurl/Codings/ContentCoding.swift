#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A content coding that the transport decodes (RFC 9110 §8.4.1).
enum ContentCoding: String, CaseIterable, Sendable {
    /// RFC 1952.
    case gzip
    /// RFC 1950; also RFC 1951 without a header, which some servers send under this name.
    case deflate
    #if Brotli
    /// RFC 7932.
    case brotli = "br"
    #endif
    #if Zstd
    /// RFC 8878.
    case zstd
    #endif

    /// The maximum number of codings of one body.
    static let limit = 5

    /// The value of `Accept-Encoding` with all codings.
    static let accepted = allCases.map(\.rawValue).joined(separator: ", ")

    /// The codings in a value of `Content-Encoding`, in the order in which they were applied. Empty if there
    /// are none or if one of them is unknown; then the body is delivered undecoded.
    static func list(in value: String) -> [ContentCoding] {
        var codings: [ContentCoding] = []
        for element in value.split(separator: ",") {
            let words = element.split { $0 == " " || $0 == "\t" }
            guard let name = words.first?.lowercased(), name != "identity" else { continue }
            // `x-gzip` is equivalent (RFC 9110 §8.4.1.3).
            let coding = ContentCoding(rawValue: name == "x-gzip" ? "gzip" : name)
            guard words.count == 1, let coding else { return [] }
            codings.append(coding)
        }
        return codings
    }

    /// Whether a field line is a `Content-Encoding`.
    static func isNamed(in line: UnsafeRawBufferPointer) -> Bool {
        let name = "content-encoding:"
        // Most lines differ in their first byte or in the position of the colon.
        guard line.count >= name.utf8.count, let first = unsafe line.first, first | 0x20 == UInt8(ascii: "c"),
            unsafe line[name.utf8.count - 1] == UInt8(ascii: ":"),
            let start = unsafe line.assumingMemoryBound(to: CChar.self).baseAddress
        else { return false }
        return unsafe strncasecmp(start, name, name.utf8.count) == 0
    }

    /// Makes a decoder for the beginning of a body.
    func decoder() -> any ContentDecoder {
        switch self {
        case .gzip: InflateDecoder(isGzip: true)
        case .deflate: InflateDecoder(isGzip: false)
        #if Brotli
        case .brotli: BrotliDecoder()
        #endif
        #if Zstd
        case .zstd: ZstdDecoder()
        #endif
        }
    }
}
