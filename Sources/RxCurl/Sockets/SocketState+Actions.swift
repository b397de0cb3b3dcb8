internal import RxLoop

extension SocketState {
    /// The actions on the poll.
    enum PollAction: Equatable {
        case nothing
        /// Report these events from now on, with a new poll if there is none.
        case report(Poll.Events)
        /// Report nothing, but keep the poll.
        case stop
        /// Close the poll, if there is one.
        case close
    }

    /// The actions for a report of the loop.
    enum Report: Equatable {
        /// curl waits for nothing, so stop reporting. `isUnasked` if the connection is idle, carries one
        /// transfer at a time, and unexpected bytes or the end of the connection have arrived.
        case stop(isUnasked: Bool)
        /// Tell curl that the socket is ready for these events.
        case tell(Poll.Events)
    }

    /// The actions when the socket is writable.
    enum WriteAction: Equatable {
        case nothing
        /// Stop watching for writability until something else happens: bytes arrive, which may open the
        /// server's window; there is new content or another transfer; or a timer of curl has fired.
        case mute(PollAction)
    }
}
