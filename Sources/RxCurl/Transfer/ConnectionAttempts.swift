internal import RxHTTP

/// How a transfer asks for connections, and what came of it.
struct ConnectionAttempts {
    /// How it asks for HTTP/3.
    var http3 = HTTP3Request.none
    /// How many sockets for datagrams have been opened for it.
    var datagramSockets = 0
    /// How often libcurl has given it up because no connection had room for it.
    var refusals = 0
    /// An address that no connection was made to.
    var forbidden: IPAddress?
}
