internal import RxHTTP

/// The connection attempts of a transfer and their results.
struct ConnectionAttempts {
    /// How the transfer asks for HTTP/3.
    var http3 = HTTP3Request.none
    /// The number of sockets for datagrams that have been opened for the transfer.
    var datagramSockets = 0
    /// How often libcurl has given up the transfer because connections refused its stream.
    var refusals = 0
    /// An address that was refused because connections to it are forbidden.
    var forbidden: IPAddress?
}
