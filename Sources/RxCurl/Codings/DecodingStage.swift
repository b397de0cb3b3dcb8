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
