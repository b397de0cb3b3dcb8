extension TransferState {
    /// The actions for a line of a head.
    enum HeadAction: Equatable {
        /// Ignore the line.
        case skip
        /// Add the line to the head, or after the body to the trailers.
        case keep
        /// An informational head is complete: keep it, and deliver it together with those held back.
        case deliverInterim
        /// An informational head is complete: keep it until the consumer resumes.
        case holdInterim
        /// The head is complete: deliver it, after the informational heads that were held back.
        case deliver
        /// Abort the transfer.
        case refuse
    }

    /// The actions for a chunk.
    enum BodyAction: Equatable {
        /// Deliver the chunk, after the heads if they were held back.
        case deliver(headFirst: Bool)
        /// Let curl keep the chunk until the consumer resumes; curl then passes it again.
        case wait
        /// Append the chunk to the backlog until the consumer resumes.
        case appendToBacklog
        /// Abort the transfer.
        case refuse
    }

    /// The actions when the consumer resumes.
    enum ResumeAction: Equatable {
        /// Decode a piece of the last chunk, and deliver it.
        case deliverDecoded
        /// Deliver the failure: the body is incomplete.
        case fail
        /// Deliver the first informational head that was held back.
        case deliverInterim
        /// Deliver the head that was held back.
        case deliverHead
        /// Deliver the first chunk of the backlog.
        case deliverBacklog
        /// Tell curl to continue.
        case unpause
        /// Deliver the trailers.
        case deliverTrailers
        /// Deliver the end that was held back.
        case finish
    }

    /// The actions when curl has completed the transfer.
    enum EndAction: Equatable {
        /// Deliver the end, after the heads if they were held back.
        case finish(headFirst: Bool)
        /// Deliver the failure.
        case fail
        /// Keep the results; ``resume(isPaused:)`` delivers the rest.
        case wait
        /// The transfer had already ended.
        case nothing
    }
}
