extension TransferState {
    /// The response from the end of its head on: what has come and not been delivered.
    struct Body: Equatable {
        /// The heads that have not been delivered.
        enum Heads: Equatable {
            case none
            /// The consumer paused before the final one, and before so many informational ones.
            case held(interim: Int)
            /// The response is a challenge of the proxy's: curl sends the request again, or hands the response out.
            case challenge(interim: Int)
        }

        /// What there is to decode of the body.
        enum Coding: Equatable {
            /// It is delivered as it comes.
            case identity
            /// Bytes have been taken that are still to be decoded.
            case pending
            /// All that was taken has been decoded; a coding that the body breaks off in, should it end here.
            case decoded(brokenOff: ContentCoding?)
        }

        var heads: Heads
        var coding = Coding.identity
        /// Chunks that the consumer paused before and that curl cannot keep.
        var spooledChunks = 0
        var spooledBytes = 0
        /// Trailers came, which are delivered before the end.
        var hasTrailers = false

        init(heads: Heads) { self.heads = heads }

        var isChallenge: Bool { if case .challenge = heads { true } else { false } }

        /// Whether everything that came has been handed on.
        var isDrained: Bool { coding != .pending && spooledChunks == 0 }

        /// The coding that a body that ends here breaks off in.
        var brokenOff: ContentCoding? {
            if spooledChunks == 0, case .decoded(let brokenOff) = coding { brokenOff } else { nil }
        }

        /// curl hands the response out, though it may have been a challenge.
        mutating func accept() {
            if case .challenge(let interim) = heads { heads = .held(interim: interim) }
        }

        /// Forgets the heads, which are delivered now; false if there are none.
        mutating func takeHeads() -> Bool {
            defer { heads = .none }
            return heads != .none
        }

        /// The next thing to deliver of what has come, or to decode.
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
            guard spooledChunks > 0 else { return nil }
            spooledChunks -= 1
            return .deliverSpooled
        }
    }
}
