extension TransferState {
    /// The part of the response from the end of its head on that has arrived and not been delivered.
    struct Body: Equatable {
        /// The heads that have not been delivered.
        enum Heads: Equatable {
            case none
            /// The consumer paused before the final head, and before this number of informational heads.
            case held(interim: Int)
            /// The response is a challenge of the proxy: curl sends the request again, or passes the response
            /// on.
            case challenge(interim: Int)
        }

        /// The state of the body's decoding.
        enum Coding: Equatable {
            /// The body is delivered as received.
            case identity
            /// Bytes have been taken that must still be decoded.
            case pending
            /// All bytes have been decoded; a coding that is incomplete if the body ends here.
            case decoded(brokenOff: ContentCoding?)
        }

        var heads: Heads
        var coding = Coding.identity
        /// The number of chunks and bytes in the ``Backlog``.
        var backlogCount = 0
        var backlogBytes = 0
        /// Whether there are trailers, which are delivered before the end.
        var hasTrailers = false

        init(heads: Heads) { self.heads = heads }

        var isChallenge: Bool { if case .challenge = heads { true } else { false } }

        /// Whether all received bytes have been delivered.
        var isDrained: Bool { coding != .pending && backlogCount == 0 }

        /// The coding that is incomplete if the body ends here.
        var brokenOff: ContentCoding? {
            if backlogCount == 0, case .decoded(let brokenOff) = coding { brokenOff } else { nil }
        }

        /// Notes that curl passes the response on, though it may have been a challenge.
        mutating func accept() {
            if case .challenge(let interim) = heads { heads = .held(interim: interim) }
        }

        /// Clears the heads, which are delivered now; false if there are none.
        mutating func takeHeads() -> Bool {
            defer { heads = .none }
            return heads != .none
        }

        /// The next part of the received response to deliver or to decode.
        mutating func resume() -> ResumeAction? {
            switch heads {
            case .challenge: return nil
            case .held(let interim) where interim > 0:
                heads = .held(interim: interim - 1)
                return .deliverInterim
            case .held:
                heads = .none
                return .deliverHead
            case .none: break
            }
            if coding == .pending { return .deliverDecoded }
            guard backlogCount > 0 else { return nil }
            backlogCount -= 1
            return .deliverBacklog
        }
    }
}
