/// Decodes a body with one or more codings, in pieces.
///
/// Only the requested piece is decoded, so a subscriber that pauses also pauses the decoding. The object
/// holds the bytes that have been fed, one piece for each coding, and the windows of the decoders.
@safe
final class ContentDecoding {
    // Safe: the buffer lives from init to deinit.

    /// The reason why a body cannot be decoded.
    enum Failure: Error, Equatable {
        /// The content does not match the coding.
        case malformed(ContentCoding)
        /// The content, or one of its codings, grows more than ``Limits`` allow.
        case expanded
    }

    /// The limits for the growth of a body.
    struct Limits: Equatable {
        /// The maximum ratio of decoded to received bytes, at each coding.
        var expansion = 100
        /// The number of decoded bytes up to which the ratio is ignored.
        var floor = 1 << 20
    }

    /// The maximum size of a piece, in bytes.
    static let pieceSize = 64 << 10

    private let limits: Limits
    private let first: DecodingStage
    private let last: DecodingStage
    private let buffer: UnsafeMutableRawBufferPointer
    private var fedBytes = 0
    /// Whether ``next()`` may return another piece of the bytes that have been fed.
    private(set) var isPending = false

    /// - Parameter codings: the codings in the order in which they were applied; at least one.
    init(_ codings: [ContentCoding], limits: Limits = Limits()) {
        self.limits = limits
        let reversed = codings.reversed()
        precondition(!reversed.isEmpty, "decoding needs at least one coding")
        first = DecodingStage(reversed[reversed.startIndex], outer: nil)
        last = reversed.dropFirst().reduce(first) { DecodingStage($1, outer: $0) }
        unsafe buffer = .allocate(byteCount: Self.pieceSize, alignment: 16)
    }

    deinit { unsafe buffer.deallocate() }

    /// A coding whose content has begun and is incomplete, once nothing is pending. An empty body is
    /// complete: many redirects with `Content-Encoding` have one.
    var brokenOff: ContentCoding? { last.brokenOff }

    /// Takes a copy of the next bytes as received.
    func feed(_ bytes: UnsafeRawBufferPointer) {
        unsafe first.append(bytes)
        fedBytes += bytes.count
        isPending = true
    }

    /// Returns the next piece; `nil` if it needs more bytes.
    func next() throws(Failure) -> [UInt8]? {
        let (allowance, isHuge) = fedBytes.multipliedReportingOverflow(by: limits.expansion)
        let count = try unsafe last.read(
            into: buffer, allowance: isHuge ? .max : max(limits.floor, allowance))
        guard count > 0 else {
            isPending = false
            return nil
        }
        return unsafe Array(buffer[..<count])
    }
}
