internal import CLibcurl

/// Refuses a response whose first field line begins with a blank, if its easy handle has been used before: libcurl would
/// continue the last field of the previous response with it (``LibcurlFault/readsFreedHeaders``).
///
/// With `CURLOPT_HEADER`, libcurl passes each line of a head to the write callback too, and does so before it keeps the
/// line (`chop_write`). The option is on until the first field of the transfer has been kept, which a folded line may
/// then continue. Transfers for which libcurl itself may send the request again, and then receive a second final head,
/// get a new handle.
struct FirstLineGuard {
    /// Whether the write callback gets lines instead of the body.
    private(set) var isOn = false
    /// Whether a part of the current line has been seen: libcurl divides long ones.
    private var isInsideLine = false

    mutating func turn(on isOn: Bool) { self = Self(isOn: isOn) }

    /// Returns whether libcurl may keep the line of which this is the next part.
    mutating func admits(_ part: UnsafeRawBufferPointer, isStatusLine: Bool) -> Bool {
        defer { isInsideLine = true }
        guard !isInsideLine, !isStatusLine, let first = unsafe part.first else { return true }
        return first != 0x20 && first != 0x09
    }

    mutating func endLine() { isInsideLine = false }

    /// Whether libcurl may keep a second final head for this transfer: after a refused expectation (417), or after a
    /// challenge of the proxy.
    static func expectsTwoHeads(_ transfer: Transfer) -> Bool {
        transfer.expectation.wait != nil || transfer.multi.configuration.proxy.authenticationMask != nil
    }
}

extension EasyHandle {
    /// Turns the guard on before a transfer, unless the handle is new, or off.
    func guardFirstLine(_ isOn: Bool) {
        guard firstLine.isOn != isOn else { return firstLine.endLine() }
        firstLine.turn(on: isOn)
        set(CURLOPT_HEADER, isOn ? 1 : 0)
    }
}
