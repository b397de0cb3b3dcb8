internal import RxLoop

/// A socket of curl with the objects that the loop and the transport have for it.
struct WatchedSocket {
    var state = SocketState()
    /// Present as long as the state has events for it.
    var poll: Poll?
    /// Counts the connection among those of all loops.
    var connection: LoopShares.Connection?
    /// The transfer that the connection is being made for.
    weak var connecting: Transfer?
}
