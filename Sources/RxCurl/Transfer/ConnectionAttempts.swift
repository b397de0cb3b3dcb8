import CLibcurl
import RxHTTP

/// The attempts of a transfer to get a connection and to send its request: name lookup, choice of the connection,
/// refused streams. All of it survives ``Transfer/startOver(_:)``, except `sending`, `wasPassedToCurl`,
/// `shortage` and `forbidden`, which that resets; decide for each new field which of the two it needs.
struct ConnectionAttempts {
    /// How the transfer asks for HTTP/3.
    var http3 = HTTP3Request.none
    /// The number of sockets for datagrams that have been opened for the transfer.
    var datagramSockets = 0
    /// The port of the last connection that was tried, which tells whether curl went to a proxy
    /// (``EasyHandle/usesProxy``).
    var port: Int?
    /// The state of the latest attempt to send the request.
    var sending = SendingAttempt()
    /// How often the transport has sent the request again because connections refused its stream.
    var refusals = 0
    /// Whether the transfer joins a lookup of its host that another has under way, instead of beginning one. False once
    /// such a lookup has ended well: the name is cached, or it must be looked up again.
    var joinsLookup = true
    /// The reason why the transfer waits after its lookup has been refused; `nil` if it does not wait.
    var lookupWait: NameLookups.Wait?
    /// Whether a lookup has been refused, so that the transfer must wait.
    var isLookupRefused = false
    /// Whether the transfer has been passed to curl before, and taken back, so that its limits count already.
    var wasPassedToCurl = false
    /// Whether the idle connection that curl has chosen is unclean, so that nothing was sent on it.
    var isUnclean = false
    /// The system's error number if a socket could not be opened for lack of descriptors or memory.
    var shortage: Int32?
    /// An address that was refused because connections to it are forbidden.
    var forbidden: IPAddress?
}

/// The facts about one sending of a request.
struct SendingAttempt {
    /// How many connections had been made for the transfer (`CURLINFO_NUM_CONNECTS`).
    var connectionCount = 0
    /// Whether the latest of them was made for this sending.
    var isOnNewConnection = false
    /// Whether the server asked for a certificate of the client and has still to decide on it.
    var awaitsCertificateVerdict = false
    /// The HTTP/2 stream.
    var stream: UInt32?
    /// Whether the server has said that it did not process the stream.
    var isRefused = false
    /// Whether curl sends again over HTTP/1.1 because the server requires it.
    var isDowngraded = false
    /// Whether the server has sent GOAWAY.
    var hasGoneAway = false
    /// Whether curl has closed a connection at the end.
    var isClosing = false
    /// How the end of a body without a length is recognised. ``Multi/endWatches`` counts `stream`, so
    /// ``Transfer/stopEndWatch()`` is called before this is reset.
    var endWatch = EndWatch.none
    /// Whether the server has ended its side of the stream.
    var hasEnded = false
    /// Whether the server has reset the stream without an error.
    var isResetWithoutError = false
    /// Whether the server has ended TLS.
    var hasCloseNotify = false

    /// How to see that a body without a length is complete, if libcurl does not tell.
    enum EndWatch {
        case none
        /// TLS has ended (``LibcurlFault/trustsCutTLSBodies``).
        case closeNotify
        /// The connection is still usable (``LibcurlFault/endsHTTP2BodiesEarly``).
        case connection
        /// The stream was not reset before its end (``LibcurlFault/trustsResetHTTP2Bodies``).
        case stream
    }

    /// Records that the server processes no stream above `last`.
    mutating func goAway(last: UInt32) {
        hasGoneAway = true
        if let stream, stream > last { isRefused = true }
    }
}

extension Transfer {
    /// Whether a connection to the address may be made; if not, the address is recorded for the error.
    func allows(_ address: UnsafePointer<curl_sockaddr>) -> Bool {
        guard multi.configuration.forbidsPrivateAddresses else { return true }
        // The address begins at the last member; its length is in the structure.
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return false }
        let start = unsafe UnsafeRawPointer(address) + offset
        let (family, count) = unsafe (address.pointee.family, Int(address.pointee.addrlen))
        // A Unix socket was configured by its path.
        guard let address = unsafe IPAddress(family: family, start, count: count) else {
            return multi.configuration.unixSocketPath != nil
        }
        return allows(address)
    }

    /// Whether the connection on which the request is about to be sent leads to an allowed address.
    func allows(_ endpoints: ConnectionEndpoints) -> Bool {
        guard multi.configuration.forbidsPrivateAddresses, let text = endpoints.address else { return true }
        guard let address = IPAddress(text) else { return multi.configuration.unixSocketPath != nil }
        return allows(address)
    }

    private func allows(_ address: IPAddress) -> Bool {
        if address.isPublic { return true }
        attempts.forbidden = address
        return false
    }

    /// The error for a forbidden address, if this is the reason why there is no connection.
    func forbiddenAddress(_ cause: CurlError) -> NetworkError? {
        guard let forbidden = attempts.forbidden, !state.isSent else { return nil }
        switch cause.code {
        case CURLE_COULDNT_CONNECT, CURLE_ABORTED_BY_CALLBACK:
            let message = "\(forbidden) is not a public address, as forbidsPrivateAddresses requires"
            return error(.forbiddenAddress, message, cause)
        default: return nil
        }
    }
}
