internal import CLibcurl

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Sends and receives the bytes of a connection that curl has made.
///
/// Without TLS and proxies the socket is used directly: with each call, some versions of libcurl search all
/// connections for the one of the handle (`Curl_getconnectinfo`).
@safe
struct ConnectionBytes {
    // Safe: the handle keeps the connection open until it is removed from the multi handle, and this value is
    // used only before that.

    /// The outcome of a call.
    enum Outcome {
        /// The number of bytes; 0 for the end of the stream.
        case bytes(Int)
        /// Nothing is possible before the socket is ready.
        case wait
        case failed(String)
    }

    let handle: EasyHandle
    let descriptor: Int32
    /// Whether the bytes on the socket are those of the connection.
    var isPlain: Bool

    /// The same connection, used by the calls of curl.
    var throughCurl: ConnectionBytes {
        var connection = self
        connection.isPlain = false
        return connection
    }

    /// Sends bytes. After ``Outcome/wait``, the same bytes must be passed again from the same address, because
    /// TLS may have encrypted them.
    func send(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        var sent = 0
        guard isPlain else {
            let code = unsafe curl_easy_send(handle.raw, bytes.baseAddress, bytes.count, &sent)
            return outcome(code, sent)
        }
        #if canImport(Glibc)
        let flags = Int32(MSG_NOSIGNAL)
        #else
        let flags: Int32 = 0
        #endif
        repeat {
            sent = unsafe systemSend(descriptor, bytes.baseAddress, bytes.count, flags)
        } while sent < 0 && errno == EINTR
        return outcome(sent)
    }

    /// Receives the bytes that have arrived, as many as fit.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        var received = 0
        guard isPlain else {
            let code = unsafe curl_easy_recv(handle.raw, buffer.baseAddress, buffer.count, &received)
            return outcome(code, received)
        }
        repeat {
            received = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
        } while received < 0 && errno == EINTR
        return outcome(received)
    }

    private func outcome(_ code: CURLcode, _ count: Int) -> Outcome {
        switch code {
        case CURLE_OK: .bytes(count)
        case CURLE_AGAIN: .wait
        default: .failed(handle.error(code).message)
        }
    }

    private func outcome(_ result: Int) -> Outcome {
        if result >= 0 { return .bytes(result) }
        let code = errno
        return code == EAGAIN || code == EWOULDBLOCK
            ? .wait : .failed(unsafe String(cString: strerror(code)))
    }
}

/// `send` of the C library, whose name ``ConnectionBytes/send(_:)`` hides.
private func systemSend(
    _ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32
) -> Int {
    unsafe send(descriptor, bytes, count, flags)
}
