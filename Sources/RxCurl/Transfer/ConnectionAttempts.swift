internal import RxHTTP

/// The connection attempts of a transfer and their results.
struct ConnectionAttempts {
    /// How the transfer asks for HTTP/3.
    var http3 = HTTP3Request.none
    /// The number of sockets for datagrams that have been opened for the transfer.
    var datagramSockets = 0
    /// The port of the last connection that was tried.
    var port: Int?
    /// How often libcurl has given up the transfer because connections refused its stream.
    var refusals = 0
    /// Whether the transfer waits for a lookup of its host by another one, and the place where it waits.
    var sharesLookup = true
    var lookupPlace: NameLookups.Place?
    /// Whether a lookup has been refused, so that the transfer must wait.
    var isLookupRefused = false
    /// Whether the transfer has been passed to curl before.
    var hasWaited = false
    /// Whether the idle connection that curl has chosen is unclean, so that nothing was sent on it.
    var isUnclean = false
    /// The system's error number if a socket could not be opened for lack of descriptors or memory.
    var shortage: Int32?
    /// An address that was refused because connections to it are forbidden.
    var forbidden: IPAddress?
}
