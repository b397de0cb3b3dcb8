import HTTPTypes
import RxHTTP
import RxLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A content coding that the transport decodes (RFC 9110 §8.4.1). The raw values are the names in the header fields of
/// requests and responses, and in error messages; the cases are in the order of `Accept-Encoding`.
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

    /// The maximum number of codings of one body; documented in Connections.md of RxNetworking.
    static let limit = 5

    /// The value of `Accept-Encoding` with all codings.
    static let accepted = allCases.map(\.rawValue).joined(separator: ", ")

    /// The codings in a value of `Content-Encoding`, in the order in which they were applied. Empty if there
    /// are none or if one of them is unknown; then the body is delivered undecoded.
    static func list(in value: String) -> [ContentCoding] {
        // Such a name is unknown, and would be slow to compare.
        guard value.allBytes({ $0 < 0x80 }) else { return [] }
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

/// The body is decoded between curl and the subscriber, because curl does not report a coded body that is cut
/// off.
extension Transfer {
    /// Prepares the decoding of a body with `Content-Encoding`; false if it is refused.
    ///
    /// The bytes of a 206 are a part of the coded content (RFC 9110 §14.2) and are delivered undecoded.
    func openDecoding() -> Bool {
        response.hasCoding = false
        guard request.decodesContent, let head = response.head, head.status != .partialContent,
            let value = head[.contentEncoding]
        else { return true }
        let codings = ContentCoding.list(in: value)
        guard !codings.isEmpty else { return true }
        guard codings.count <= ContentCoding.limit else {
            state.refuse(.tooManyCodings)
            return false
        }
        response.decoding = ContentDecoding(
            codings, limits: .init(expansion: max(1, multi.configuration.expansionLimit)))
        state.beginDecoding()
        return true
    }

    /// Takes received bytes and delivers pieces until none is left or the subscriber pauses; false if the
    /// bytes are refused.
    func decode(_ bytes: UnsafeRawBufferPointer, by decoding: ContentDecoding) -> Bool {
        unsafe feed(bytes, to: decoding)
        while decoding.isPending, observer.scope.isOpen {
            guard deliverDecoded() else { return false }
            if observer.scope.isPaused {
                watchResume()
                break
            }
        }
        return true
    }

    func feed(_ bytes: UnsafeRawBufferPointer, to decoding: ContentDecoding) {
        unsafe decoding.feed(bytes)
        state.receiveCoded()
    }

    /// Delivers the next piece, if there is one; false if the bytes are refused.
    func deliverDecoded() -> Bool {
        guard let decoding = response.decoding else { return true }
        do throws(ContentDecoding.Failure) {
            let piece = try decoding.next()
            state.receiveDecoded(
                count: piece?.count ?? 0, isPending: decoding.isPending,
                brokenOff: decoding.isPending ? nil : decoding.brokenOff)
            if let piece { deliver(.chunk(piece)) }
            return true
        } catch {
            switch error {
            case .malformed(let coding): state.refuse(.malformedContent(coding))
            case .expanded: state.refuse(.expanded)
            }
            return false
        }
    }

    /// Ends the transfer because of refused bytes that curl has already handed over.
    func endRefused() {
        guard let refusal = state.refusal else { return }
        let error = error(refusal.kind, refusal.message)
        // Without a handle, curl has nothing of the transfer any more; the loop may have ended, too.
        if handle == nil { end(error) } else { multi.perform(.fail(self, error)) }
    }
}
