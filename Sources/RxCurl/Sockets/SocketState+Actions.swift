internal import RxLoop

extension SocketState {
    /// What to do about the poll.
    enum PollAction: Equatable {
        case nothing
        /// Report these events from now on, by a new poll if there is none.
        case report(Poll.Events)
        /// Report nothing, and stay.
        case stop
        /// Close the poll, if there is one.
        case close
    }

    /// What to do about a report of the loop's.
    enum Report: Equatable {
        /// curl waits for nothing: report nothing any more. `isUnasked` if the connection is idle, used by one transfer
        /// after the other, and something came on it that nobody has asked for, or its end.
        case stop(isUnasked: Bool)
        /// Tell curl that the socket is ready for these events.
        case tell(Poll.Events)
    }

    /// What to do about room to write.
    enum WriteAction: Equatable {
        case nothing
        /// Ask no more whether there is room until something else happens: something comes, which may open the
        /// server's window, there is new content, another transfer, or the time of one has come.
        case mute(PollAction)
    }
}
