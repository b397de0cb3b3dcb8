import CLibcurl
import RxHTTP
import RxLite
import RxLoop

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
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

    /// This connection, read and written through libcurl's calls instead of the socket.
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

/// The bytes that wait to be sent on an upgraded connection, and the stream that they come from.
final class OutgoingBytes: @unchecked Sendable {
    // Unchecked, and without checks of exclusivity: touched on the loop only; nothing that leads back here is
    // called while a variable is being changed.

    /// The waiting chunks, from ``index`` on. A chunk keeps its address until all of it has been sent.
    @safe @exclusivity(unchecked) private var chunks: [[UInt8]] = []
    @safe @exclusivity(unchecked) private var index = 0
    /// The number of bytes of the first chunk that have been sent.
    @safe @exclusivity(unchecked) private var offset = 0
    /// The number of waiting bytes.
    @safe @exclusivity(unchecked) private var count = 0
    @safe @exclusivity(unchecked) private var scope: Scope?
    @safe @exclusivity(unchecked) private var isPaused = false

    /// The number of waiting bytes at which the stream is paused, and at which it is resumed.
    /// ``ContentSource`` has the same rule with other numbers.
    private static let highWater = 64 << 10
    private static let lowWater = 16 << 10

    var isWaiting: Bool { count > 0 }

    func append(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        count += bytes.count
        chunks.append(bytes)
    }

    /// Takes the chunks of `stream` from now on.
    ///
    /// - Parameters:
    ///   - onBytes: called after bytes have been added.
    ///   - onFailure: called with the failure of the stream.
    func subscribe(
        to stream: Observable<[UInt8], NetworkError>, on loop: EventLoop,
        onBytes: @escaping () -> Void, onFailure: @escaping (NetworkError) -> Void
    ) {
        let lane = Lane(scheduler: loop)
        let scope = Scope(lane: lane)
        self.scope = scope
        let callbacks = Callbacks(onBytes: onBytes, onFailure: onFailure)
        let observer = Observer<[UInt8], NetworkError>(
            scope: scope,
            next: { bytes in
                loop.assertCurrent()
                self.append(bytes)
                callbacks.onBytes()
                self.pauseIfFull()
            },
            end: { completion in
                scope.close()
                if case .failed(let error) = completion { callbacks.onFailure(error) }
            })
        lane.enter { stream.subscribe(observer) }
    }

    /// The callbacks of a subscription.
    private struct Callbacks: @unchecked Sendable {
        // Unchecked: called on the loop only.
        let onBytes: () -> Void
        let onFailure: (NetworkError) -> Void
    }

    private func pauseIfFull() {
        guard !isPaused, count >= Self.highWater, let scope, scope.isOpen else { return }
        isPaused = true
        scope.pause()
    }

    /// Sends bytes of the first chunk; `nil` if none wait.
    func send(on connection: ConnectionBytes) -> ConnectionBytes.Outcome? {
        guard index < chunks.count else { return nil }
        let outcome = unsafe chunks[index].withUnsafeBytes { bytes in
            unsafe connection.send(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
        }
        if case .bytes(let sent) = outcome { remove(sent) }
        return outcome
    }

    private func remove(_ sent: Int) {
        count -= sent
        offset += sent
        guard offset == chunks[index].count else { return }
        chunks[index] = []
        index += 1
        offset = 0
        if index == chunks.count {
            chunks.removeAll(keepingCapacity: index <= 64)
            index = 0
        } else if index > 64, index * 2 > chunks.count {
            chunks.removeFirst(index)
            index = 0
        }
        if isPaused, count <= Self.lowWater { resume() }
    }

    private func resume() {
        isPaused = false
        if let scope { scope.enter { scope.resume() } }
    }

    /// Cancels the stream, and drops what waits.
    func close() {
        scope?.cancel()
        scope = nil
        chunks = []
        (index, offset, count, isPaused) = (0, 0, 0, false)
    }
}
