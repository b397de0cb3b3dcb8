internal import RxLoop

/// A socket of curl's with what the loop has for it.
struct WatchedSocket {
    var state = SocketState()
    /// There is one as long as the state names events for it.
    var poll: Poll?
    /// Its place among the connections of all loops.
    var connection: LoopShares.Connection?
    /// The transfer that a connection is begun for.
    weak var connecting: Transfer?
}
