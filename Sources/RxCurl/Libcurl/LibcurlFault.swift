/// A fault of libcurl that the transport works around.
enum LibcurlFault: CaseIterable {
    /// Uses an idle connection again that has bytes to read or was reset; a late 408 counts as the next response.
    /// See ``ConnectedSocket/retire()``.
    case reusesUncleanConnections
    /// Takes an HTTP/2 body that is reset before its end for whole where there is no length, among other faults of
    /// HTTP/2. So ``CurlTransport/HTTPVersion/automatic`` is HTTP/1.1.
    case endsHTTP2BodiesEarly
    /// Does not reliably go on with a paused HTTP/2 transfer. So its bytes are taken all the same, into ``PausedChunks``.
    case stallsPausedHTTP2
    /// Asks for a writable socket as long as an HTTP/2 upload waits for the server's window. See
    /// ``SocketState/noteWrite(isIdle:)``.
    case spinsOnHTTP2Uploads
    /// Fails with `CURLE_HTTP2` when it uses an HTTP/2 connection without TLS a second time. So these are used once.
    case breaksReusedPlainHTTP2
    /// Keeps a TLS session with the easy handle that made it. So the handles share them (`CURLSH`).
    case keepsTLSSessionsPerHandle
    /// Tries the next address only late when one refuses. See ``Multi/nudgeConnecting()``.
    case waitsAfterRefusals
    /// Fails with `CURLE_HTTP2_STREAM` when an HTTP/2 stream is reset without an error after a whole response (RFC 9113
    /// §8.1). So a response that is whole counts. Not seen in 8.14.1.
    case losesResponsesToResets
    /// Frees the requests of a look-up over HTTPS together with the handle it is for, while their HTTP/2 connection still
    /// points at them. So the handle is kept until they are over: see ``UnfinishedLookups``. Not seen in 8.14.1.
    case freesLookupsUnderWay
    /// Gives a request up when six connections one after the other have refused its HTTP/2 stream, as they do where the
    /// server allows few and says so late. So the transport sends it again. Still so in 8.14.1.
    case givesUpRefusedStreams
    /// Sends the frame that ends an HTTP/2 stream only with the next one on the connection. So a cancelled transfer
    /// closes the connection, unless others are on it. Still so in 8.14.1.
    case delaysHTTP2Resets

    /// The first version without it; `nil` if there is none so far.
    var end: LibcurlFeatures.Version? {
        switch self {
        case .reusesUncleanConnections: .init(8, 0)
        case .endsHTTP2BodiesEarly, .stallsPausedHTTP2, .spinsOnHTTP2Uploads, .breaksReusedPlainHTTP2:
            .init(8, 4)
        case .keepsTLSSessionsPerHandle: .init(8, 12)
        case .waitsAfterRefusals, .losesResponsesToResets, .freesLookupsUnderWay: .init(8, 14)
        case .givesUpRefusedStreams, .delaysHTTP2Resets: nil
        }
    }
}

extension LibcurlFeatures {
    /// Whether this libcurl has the fault.
    func has(_ fault: LibcurlFault) -> Bool { fault.end.map { version < $0 } ?? true }
}
