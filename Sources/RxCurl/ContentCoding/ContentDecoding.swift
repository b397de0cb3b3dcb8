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

    /// The limits for the growth of a body. ``CurlTransport/Configuration/expansionLimit`` sets the ratio, and its
    /// documentation tells both.
    struct Limits: Equatable {
        /// The maximum ratio of decoded to received bytes, at each coding.
        var expansion = 100
        /// The number of decoded bytes up to which the ratio is ignored.
        var floor = 1 << 20
    }

    /// The maximum size of a piece, in bytes; documented in Connections.md of RxNetworking.
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

/// One coding of a body, with the bytes to decode next.
@safe
final class DecodingStage {
    // Safe: the buffer lives until it is replaced or the object is released; the bytes from `start` to `end`
    // are valid.
    let coding: ContentCoding
    /// The stage whose output this one decodes; `nil` for the one that decodes the received bytes.
    private let outer: DecodingStage?
    private let decoder: any ContentDecoder
    private var buffer: UnsafeMutableRawBufferPointer
    private var start = 0
    private var end = 0
    /// Whether the decoder may have more output because the last output was full.
    private var hasMore = false
    /// Whether the decoder has got no byte yet: an empty body is not broken off.
    private var isUntouched = true
    private var producedBytes = 0

    init(_ coding: ContentCoding, outer: DecodingStage?) {
        self.coding = coding
        self.outer = outer
        decoder = coding.decoder()
        // The size of libcurl's writes (`CURL_MAX_WRITE_SIZE`), or of a piece of the previous stage.
        let size = outer == nil ? 16 << 10 : ContentDecoding.pieceSize
        unsafe buffer = .allocate(byteCount: size, alignment: 16)
    }

    deinit { unsafe buffer.deallocate() }

    /// The first coding, among this stage and the ones before it, whose content has begun and is incomplete.
    var brokenOff: ContentCoding? {
        outer?.brokenOff ?? (isUntouched || decoder.isComplete ? nil : coding)
    }

    /// Appends a copy of the bytes to those that wait.
    func append(_ bytes: UnsafeRawBufferPointer) {
        let waiting = end - start
        if unsafe end + bytes.count > buffer.count {
            let size = unsafe max(buffer.count, waiting + bytes.count)
            let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
            unsafe larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[start..<end]))
            unsafe buffer.deallocate()
            unsafe buffer = unsafe larger
            (start, end) = (0, waiting)
        }
        unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[end...]).copyMemory(from: bytes)
        end += bytes.count
    }

    /// Decodes into `output`.
    ///
    /// - Parameter allowance: the maximum number of bytes that each stage may have produced so far.
    /// - Returns: the number of bytes; 0 if more input is needed.
    func read(
        into output: UnsafeMutableRawBufferPointer, allowance: Int
    ) throws(ContentDecoding.Failure) -> Int {
        while true {
            if start < end || hasMore {
                let count = try unsafe step(into: output, allowance: allowance)
                if count > 0 { return count }
            } else if let outer {
                let count = try unsafe outer.read(into: buffer, allowance: allowance)
                guard count > 0 else { return 0 }
                (start, end) = (0, count)
            } else {
                (start, end) = (0, 0)
                return 0
            }
        }
    }

    private func step(
        into output: UnsafeMutableRawBufferPointer, allowance: Int
    ) throws(ContentDecoding.Failure) -> Int {
        let input = unsafe UnsafeRawBufferPointer(rebasing: buffer[start..<end])
        let isEmpty = unsafe input.isEmpty
        if !isEmpty { isUntouched = false }
        let step = unsafe decoder.decode(input, into: output)
        // A decoder with input and room for output always makes progress.
        let isStuck = !isEmpty && step.consumed == 0 && step.produced == 0
        guard !step.isMalformed, !isStuck else { throw .malformed(coding) }
        start += step.consumed
        hasMore = step.produced == output.count
        producedBytes += step.produced
        guard producedBytes <= allowance else { throw .expanded }
        return step.produced
    }
}
