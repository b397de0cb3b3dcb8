extension TransferState {
    /// The progress of the response.
    ///
    /// `held` is the number of informational heads that are complete but held back because the consumer has
    /// paused.
    enum Phase: Equatable {
        /// A status line comes next.
        case statusLine(held: Int)
        /// Field lines of a head come next.
        case fieldLines(Head, held: Int)
        /// The final head is complete. `holdsCurl` if curl has been told to wait.
        case body(Body, holdsCurl: Bool)
        /// curl has completed the transfer; ``resume(isPaused:)`` delivers the rest.
        case delivering(Body)
        /// Nothing more is delivered.
        case ended
    }

    /// The kind of head whose lines are being received.
    enum Head: Equatable {
        /// An informational one.
        case interim
        /// The final head.
        case final
        /// The final head, unless curl answers the challenge of the proxy in it.
        case challenge
    }

    /// How often the request may have reached a server.
    enum Sending: Equatable {
        case unsent, once, again
    }

    var isOver: Bool { if case .ended = phase { true } else { false } }

    /// Whether a status line comes next.
    var awaitsStatusLine: Bool { if case .statusLine = phase { true } else { false } }

    /// Whether the final head is complete, and the end has not been delivered.
    var hasHead: Bool {
        switch phase {
        case .body, .delivering: true
        case .statusLine, .fieldLines, .ended: false
        }
    }

    /// Whether the response is a challenge of the proxy: curl sends the request again, or passes the response
    /// on.
    var isChallenged: Bool {
        switch phase {
        case .fieldLines(let head, _): head == .challenge
        case .body(let body, _): body.isChallenge
        case .statusLine, .delivering, .ended: false
        }
    }

    /// Whether the request may have reached a server.
    var isSent: Bool { sending != .unsent }
    /// Whether curl sent the request more than once.
    var isResent: Bool { sending == .again }
}
