/// Decodes a body of one coding or several, in pieces.
///
/// Nothing is decoded but the piece that is asked for, so that a subscriber that pauses stops it. It holds the bytes
/// that have been fed, one piece for each coding, and the windows of the decoders.
@safe
final class ContentDecoding {
    // Safe: the buffer lives from init to deinit.

    /// Why a body cannot be decoded.
    enum Failure: Error, Equatable {
        /// The content is not of that coding.
        case malformed(ContentCoding)
        /// The content, or one of its codings, grows more than ``Limits`` allow.
        case expanded
    }

    /// How much a body may grow.
    struct Limits: Equatable {
        /// How many times larger than on the wire it may become, at each of its codings.
        var expansion = 100
        /// Decoded bytes below which expansion does not matter.
        var floor = 1 << 20
    }

    /// The most bytes of a piece.
    static let pieceSize = 64 << 10

    private let limits: Limits
    private let first: DecodingStage
    private let last: DecodingStage
    private let buffer: UnsafeMutableRawBufferPointer
    private var fedBytes = 0
    /// Whether bytes have been fed of which ``next()`` may make another piece.
    private(set) var isPending = false

    /// - Parameter codings: in the order in which they were applied; one at least.
    init(_ codings: [ContentCoding], limits: Limits = Limits()) {
        self.limits = limits
        let reversed = codings.reversed()
        precondition(!reversed.isEmpty, "there is nothing to decode without a coding")
        first = DecodingStage(reversed[reversed.startIndex], outer: nil)
        last = reversed.dropFirst().reduce(first) { DecodingStage($1, outer: $0) }
        unsafe buffer = .allocate(byteCount: Self.pieceSize, alignment: 16)
    }

    deinit { unsafe buffer.deallocate() }

    /// A coding whose content has begun and is not complete, once nothing is pending. Nothing at all is complete: that
    /// is the body of many a redirect with `Content-Encoding`.
    var brokenOff: ContentCoding? { last.brokenOff }

    /// Takes a copy of the next bytes as they came.
    func feed(_ bytes: UnsafeRawBufferPointer) {
        unsafe first.append(bytes)
        fedBytes += bytes.count
        isPending = true
    }

    /// The next piece; `nil` if more bytes are needed for one.
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
