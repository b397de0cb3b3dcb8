internal import RxHTTP

extension TransferState {
    /// What the server or curl did that is not accepted.
    enum Refusal: Equatable {
        /// More header bytes than ``Limits/headBytes``.
        case headTooLarge
        /// More informational responses than ``Limits/interimHeads``.
        case tooManyInterimHeads
        /// A head that does not begin with a status line.
        case malformedStatusLine
        /// A `Content-Length` that is no number, or several that differ.
        case uncertainLength
        /// An unasked-for 101 (RFC 9110 §15.2.2).
        case switchedProtocols
        /// A body that grows more than ``ContentDecoding/Limits`` allow.
        case expanded
        /// A body that is not of the coding that its head names.
        case malformedContent(ContentCoding)
        /// A body that ends in the middle of a coding.
        case brokenOff(ContentCoding)
        /// More codings than ``ContentCoding/limit``.
        case tooManyCodings
        /// The server refuses to be asked before the content is sent (417).
        case expectation
        /// More bytes for a paused consumer than ``Limits/spoolBytes``.
        case spoolFull
        /// curl is about to send a second time what must be sent once.
        case sentTwice
    }

    /// What a transfer may take at most.
    struct Limits: Equatable {
        /// Bytes of all header lines together, informational heads and trailers included.
        var headBytes = 256 << 10
        /// Informational heads before the final one.
        var interimHeads = 100
        /// Bytes kept for a consumer that has paused, where curl cannot keep them.
        var spoolBytes = 64 << 20
    }
}

extension TransferState.Limits {
    init(_ configuration: CurlTransport.Configuration) {
        headBytes = configuration.headerLimit
        interimHeads = configuration.interimLimit
        spoolBytes = configuration.http2SpoolLimit
    }
}

extension TransferState {
    /// The state of a transfer that has not begun.
    init(of request: borrowing Request, on multi: borrowing Multi) {
        self.init(
            isRepeatable: request.isIdempotent,
            awaitsChallenge: multi.configuration.proxy.authentication == .digest,
            limits: .init(multi.configuration))
    }
}
