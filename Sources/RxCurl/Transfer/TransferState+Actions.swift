extension TransferState {
    /// What to do about a line of a head.
    enum HeadAction: Equatable {
        /// The line is of no interest.
        case skip
        /// Add the line to the head, or after the body to the trailers.
        case keep
        /// An informational head is complete: keep it, and deliver it and those held back.
        case deliverInterim
        /// An informational head is complete: keep it until the consumer resumes.
        case holdInterim
        /// The head is complete: deliver it, after the informational ones held back.
        case deliver
        /// Break the transfer off.
        case refuse
    }

    /// What to do about a chunk.
    enum BodyAction: Equatable {
        /// Deliver the chunk, after the heads if they were held back.
        case deliver(headFirst: Bool)
        /// Let curl keep the chunk until the consumer resumes; it comes again then.
        case wait
        /// Keep the chunk until the consumer resumes.
        case pausedChunks
        /// Break the transfer off.
        case refuse
    }

    /// What to do when the consumer resumes.
    enum ResumeAction: Equatable {
        /// Decode a piece of the chunk that was taken last, and deliver it.
        case deliverDecoded
        /// Deliver the failure: the body is not whole.
        case fail
        /// Deliver the first informational head that was held back.
        case deliverInterim
        /// Deliver the head that was held back.
        case deliverHead
        /// Deliver the first chunk that was kept.
        case deliverSpooled
        /// Tell curl to go on.
        case unpause
        /// Deliver the trailers.
        case deliverTrailers
        /// Deliver the end that was held back.
        case finish
    }

    /// What to do when curl is done.
    enum EndAction: Equatable {
        /// Deliver the end, after the heads if they were held back.
        case finish(headFirst: Bool)
        /// Deliver the failure.
        case fail
        /// Keep what the transfer took; what is left is delivered as ``resume(isPaused:)`` says.
        case wait
        /// The transfer has ended before.
        case nothing
    }
}
