internal import RxHTTP

extension TransferState {
    /// The reason why a transfer is aborted because of the server or curl.
    enum Refusal: Equatable {
        /// More header bytes than ``Limits/headBytes``.
        case headTooLarge
        /// More informational responses than ``Limits/interimHeads``.
        case tooManyInterimHeads
        /// A head that does not begin with a status line.
        case malformedStatusLine
        /// A `Content-Length` that is not a number, or several different ones.
        case uncertainLength
        /// A 101 that was not requested (RFC 9110 §15.2.2).
        case switchedProtocols
        /// A body that grows more than ``ContentDecoding/Limits`` allow.
        case expanded
        /// A body that does not match the coding in its head.
        case malformedContent(ContentCoding)
        /// A body that ends in the middle of a coding.
        case brokenOff(ContentCoding)
        /// A head that libcurl would refuse, on a connection that is to change its protocol.
        case malformedHead
        /// A chunk without its size there.
        case malformedChunk
        /// A transfer coding other than `chunked` there.
        case unknownTransferCoding
        /// A body without a length whose end did not arrive, though curl reports it as complete.
        case cutOff
        /// More codings than ``ContentCoding/limit``.
        case tooManyCodings
        /// The server does not support the expectation `100-continue` (417).
        case expectation
        /// A backlog over ``Limits/backlogBytes``.
        case backlogFull
        /// curl is about to send a request again that may be sent only once.
        case sentTwice
    }

    /// The limits of a transfer.
    struct Limits: Equatable {
        /// The size of all header lines in bytes, including informational heads and trailers.
        var headBytes = 256 << 10
        /// The number of informational heads before the final one.
        var interimHeads = 100
        /// The maximum size of the backlog in bytes.
        var backlogBytes = 64 << 20
    }
}

extension TransferState.Limits {
    init(_ configuration: CurlTransport.Configuration) {
        headBytes = configuration.headerLimit
        interimHeads = configuration.interimLimit
        backlogBytes = configuration.http2BacklogLimit
    }
}

extension TransferState {
    /// The state of a transfer that has not begun.
    init(of request: borrowing Request, on multi: borrowing Multi) {
        self.init(
            isRepeatable: request.isIdempotent, asksForUpgrade: request.upgrade != nil,
            awaitsChallenge: multi.configuration.proxy.authentication == .digest,
            limits: .init(multi.configuration))
    }
}
