/// A fault of libcurl in reach of the transport, and how the transport avoids it.
enum LibcurlFault: CaseIterable {
    /// Keeps a pointer to the last header of a transfer, frees that header when the next one begins on the same easy
    /// handle, and then reads and reallocates it if the response begins with a folded line
    /// (`Curl_headers_push`). `curl_easy_reset` does not clear the pointer. Therefore a handle that is used again
    /// shows its first line before libcurl keeps it: see ``FirstLineGuard``.
    case readsFreedHeaders
    /// Reuses an idle connection that has unread bytes or was reset, so that a late 408 counts as the next
    /// response. The guard is harmless later. See ``ConnectedSocket/retire()``.
    case reusesUncleanConnections
    /// Reuses an idle connection without a check within a second after the last one (`Curl_cpool_conn_seems_healthy`),
    /// although the server has closed it or sent bytes. Therefore the transport checks each connection that it uses
    /// again: see ``Transfer/isOnUncleanConnection``. Still present in 8.23.0.
    case trustsIdleConnections
    /// Treats an HTTP/2 body without a length as complete if the connection ends by an error of the server, such as
    /// padding longer than its frame, or waits for more, and has other HTTP/2 faults. Therefore
    /// ``CurlTransport/HTTPVersion/automatic`` means HTTP/1.1. With HTTP/2 by choice, such a body is incomplete if
    /// libcurl closes the connection, except after GOAWAY; the loss is undetectable if others use the connection.
    case endsHTTP2BodiesEarly
    /// Does not reliably resume a paused HTTP/2 transfer. Therefore its bytes are still taken, into
    /// a ``Backlog``.
    case stallsPausedHTTP2
    /// Asks for a writable socket as long as an HTTP/2 upload waits for the server's window. See
    /// ``SocketState/recordWrite(isIdle:)``.
    case spinsOnHTTP2Uploads
    /// Fails with `CURLE_HTTP2` when it reuses an HTTP/2 connection without TLS. Therefore such connections
    /// are used once.
    case breaksReusedPlainHTTP2
    /// Keeps a TLS session in the easy handle that made it. Therefore the handles share sessions (`CURLSH`).
    case keepsTLSSessionsPerHandle
    /// Is slow to try the next address when one refuses. See ``Multi/continueAfterRefusals()``.
    case waitsAfterRefusals
    /// Fails with `CURLE_HTTP2_STREAM` when an HTTP/2 stream is reset without an error after a complete
    /// response (RFC 9113 §8.1). Therefore a complete response counts as a success. Not observed in 8.14.1.
    case losesResponsesToResets
    /// Frees the requests of a lookup over HTTPS together with its handle, while their HTTP/2 connection
    /// still points to them. Therefore the handle stays in libcurl until they have ended: see ``NameLookups``.
    /// Not observed in 8.14.1.
    case freesLookupsUnderWay
    /// Writes the host of a URL past the end of a buffer if a SOCKS5 proxy resolves it, the host is longer than
    /// 255 bytes, and the proxy is slow (CVE-2023-38545; distributions have patched older versions). Therefore
    /// such hosts are refused, with any version: see ``CheckedURL``.
    case overflowsSOCKSNames
    /// Uses a freed request when an HTTP/3 connection closes (curl issue 12356). Therefore HTTP/3 is not used.
    case freesHTTP3Streams
    /// Reads the freed data of a name lookup if the lookup ends in the same moment as its request
    /// (`Curl_thread_destroy` without the lock, curl issue 17256). There is no guard against it: a request that
    /// is cancelled or times out ends its lookup.
    case detachesLookupsUnlocked
    /// Hands out only the part of an HTTP/2 head that fits into the receive buffer, and the rest when another frame
    /// arrives. Therefore the buffer has room for the longest head that this libcurl accepts, 128 KiB.
    case stallsLongHTTP2Heads
    /// Opens the sockets with which it wakes itself up, two for each multi handle and each lookup, without
    /// close-on-exec. There is no guard against it: a child process that the app creates inherits them, and nothing but
    /// wake-ups passes through them.
    case leavesWakeupsToChildren
    /// Takes an informational response to `CONNECT` for a refusal. There is no guard against it: the request fails with
    /// ``NetworkError/Code/proxy``. Still present in 8.23.0.
    case refusesInterimTunnels
    /// Treats an HTTP/2 body without a length as complete if the stream is reset with `NO_ERROR` in its middle. From
    /// 8.4 on, libcurl's log shows the frames, and is read for such bodies (``HTTP2Notice``). Before that the loss is
    /// undetectable: the result, the state of the connection and the log are the same as after a complete body. Still
    /// present in 8.23.0.
    case trustsResetHTTP2Bodies
    /// Sends a request again after a refused HTTP/2 stream in the same way as after a reused connection that broke.
    /// From 8.4 on its log distinguishes them. Before that it shows GOAWAY only, so that on a reused connection a
    /// request that is not idempotent fails after RST_STREAM with `REFUSED_STREAM`. Still present in 8.23.0.
    case hidesRefusals
    /// Treats a body that ends with the connection as complete if TLS did not end before (RFC 9112 §9.8). Therefore
    /// OpenSSL is asked. Not observed in 8.14.1.
    case trustsCutTLSBodies
    /// Gives up a request after six connections in a row have refused its HTTP/2 stream, which happens with
    /// servers that allow few streams and announce this late. Therefore the transport sends the request
    /// again. Still present in 8.14.1.
    case givesUpRefusedStreams
    /// Sends the frame that ends an HTTP/2 stream only together with the next frame on the connection.
    /// Therefore a cancelled transfer closes the connection, unless other transfers use it. Still present in
    /// 8.14.1.
    case delaysHTTP2Resets

    /// The first version with the fault; `nil` if all supported versions before ``end`` have it.
    var beginning: LibcurlFeatures.Version? {
        switch self {
        case .trustsIdleConnections: .init(8, 22)
        default: nil
        }
    }

    /// The first version without the fault; `nil` if there is none so far. The documentation of
    /// ``CurlTransport/HTTPVersion``, ``CurlTransport/Configuration/pausesHTTP2`` and ``LibcurlFeatures/usesHTTP3``
    /// names some of them.
    var end: LibcurlFeatures.Version? {
        switch self {
        case .reusesUncleanConnections: .init(8, 0)
        case .readsFreedHeaders, .stallsLongHTTP2Heads: .init(8, 1)
        case .endsHTTP2BodiesEarly, .stallsPausedHTTP2, .spinsOnHTTP2Uploads, .breaksReusedPlainHTTP2,
            .overflowsSOCKSNames:
            .init(8, 4)
        case .freesHTTP3Streams: .init(8, 5)
        case .leavesWakeupsToChildren: .init(8, 8)
        case .keepsTLSSessionsPerHandle: .init(8, 12)
        case .waitsAfterRefusals, .losesResponsesToResets, .freesLookupsUnderWay, .detachesLookupsUnlocked,
            .trustsCutTLSBodies:
            .init(8, 14)
        case .trustsIdleConnections, .givesUpRefusedStreams, .delaysHTTP2Resets,
            .trustsResetHTTP2Bodies, .refusesInterimTunnels, .hidesRefusals:
            nil
        }
    }
}

extension LibcurlFeatures {
    /// Whether this libcurl has the fault.
    func has(_ fault: LibcurlFault) -> Bool {
        fault.beginning.map { $0 <= version } ?? true && fault.end.map { version < $0 } ?? true
    }
}
