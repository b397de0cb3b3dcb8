import CLibcurl
import HTTPTypes
import RxHTTP
import RxLite
import RxLoop

/// The exchange of a request that asks for another protocol, on a connection that curl has made: sends the head,
/// reads the response, and after 101 carries the bytes of both sides.
///
/// ``Transfer`` takes the lines and chunks as it takes them from curl.
final class UpgradeExchange {
    // Without checks of exclusivity: touched only on the loop, which the calls assert; nothing that leads back
    // here is called while a variable is being changed. Commands wait while the socket's events are handled.

    /// A retain cycle, since the transfer holds this exchange; ``Multi/release(_:)`` breaks it.
    private let transfer: Transfer
    private let connection: ConnectionBytes
    private var multi: Multi { transfer.multi }
    @safe @exclusivity(unchecked) private var poll: Poll?
    /// The events that the poll reports; emptied when libuv has stopped it after an error.
    @safe @exclusivity(unchecked) private var watched: Poll.Events = []
    @safe @exclusivity(unchecked) private var phase: Phase
    private let output = OutgoingBytes()
    /// Received bytes that the paused consumer could not take.
    @safe @exclusivity(unchecked) private var held: [UInt8] = []
    /// Whether the consumer has paused: nothing is read or taken until ``resume()``.
    @safe @exclusivity(unchecked) private var isHeld = false
    /// The size of the trailers, which share the limit of the head.
    @safe @exclusivity(unchecked) private var trailerBytes = 0
    /// The number of bytes received after the head.
    @safe @exclusivity(unchecked) private(set) var receivedBytes = 0

    fileprivate enum Phase {
        /// The bytes of an unfinished header line.
        case head(line: [UInt8])
        case body(BodyFraming)
        /// The other protocol.
        case open
        case closed
    }

    /// The most reads before the loop continues with other work.
    private static let batchLimit = 16

    /// Whether the protocol has changed.
    var isOpen: Bool { if case .open = phase { true } else { false } }

    init(_ transfer: Transfer, on connection: ConnectionBytes) {
        self.transfer = transfer
        self.connection = connection
        phase = .head(line: [])
    }

    /// Sends the head of the request. Must be called before curl does anything else, and the head goes through
    /// curl: with the first bytes the connection is attached to the handle again (`curl_easy_send`), and until
    /// then curl takes it for an idle one, which it closes when bytes arrive.
    func start(_ head: [UInt8]) throws(UVError) {
        multi.loop.assertCurrent()
        poll = try Poll(on: multi.loop, descriptor: connection.descriptor) { [unowned self] events, error in
            handle(events, error)
        }
        output.append(head)
        flush(on: connection.throughCurl)
        if transfer.request.upgrade?.opening != nil { openWithoutAgreement() }
        watch()
    }

    /// Continues as after a response with the status 101, for a protocol that begins with the connection.
    private func openWithoutAgreement() {
        for line in ["HTTP/1.1 101 Switching Protocols\r\n", "\r\n"] where !transfer.isOver {
            _ = unsafe Array(line.utf8).withUnsafeBytes { unsafe takeLine([], $0) }
        }
    }

    /// Ends the exchange; curl may then close the connection.
    func close() {
        multi.loop.assertCurrent()
        if case .closed = phase { return }
        phase = .closed
        poll?.close()
        poll = nil
        held = []
        output.close()
        multi.recordUpgrades(-1)
    }

    // MARK: - The socket

    private func handle(_ events: Poll.Events, _ error: UVError?) {
        multi.commands.begin()
        // The loop stops a poll that fails.
        if error != nil {
            watched = []
            // The waiting bytes cannot be sent, and the poll would report this again and again. The reason is read
            // after the consumer's pause.
            if isHeld { output.close() }
        }
        if events.contains(.writable) { flush() }
        if events.contains(.readable) || error != nil { read(toTheEnd: error != nil) }
        watch()
        multi.commands.end()
        // Most bytes concern no other transfer, and curl has not been called.
        guard transfer.isOver || !multi.commands.isEmpty else { return }
        multi.runCommands()
        multi.alarm.ringIfDue()
    }

    private func watch() {
        var events: Poll.Events = isHeld ? [] : .readable
        if output.isWaiting { events.insert(.writable) }
        guard let poll, events != watched else { return }
        watched = events
        if events.isEmpty { poll.stop() } else { poll.start(events) }
    }

    private func read(toTheEnd: Bool) {
        let buffer = unsafe multi.upgrades.readBuffer()
        var rounds = 0
        while !phase.isClosed, !isHeld, !transfer.isOver {
            guard rounds < Self.batchLimit else { return readLater() }
            rounds += 1
            switch unsafe connection.receive(into: buffer) {
            case .wait: return
            case .bytes(0): return endOfStream()
            case .bytes(let count):
                unsafe take(UnsafeRawBufferPointer(start: buffer.baseAddress, count: count))
                // The socket reports it when more arrives; bytes that TLS holds, it does not.
                if connection.isPlain, !toTheEnd, count < buffer.count { return }
            case .failed(let text): return failLost(text)
            }
        }
    }

    /// Continues after the loop's other work: nothing reports bytes that TLS has read already.
    private func readLater() {
        guard !connection.isPlain else { return }
        let transfer = transfer
        _ = multi.loop.post { transfer.upgrade?.handle(.readable, nil) }
    }

    // MARK: - Received bytes

    private func take(_ bytes: UnsafeRawBufferPointer) {
        var rest = unsafe bytes
        while unsafe !rest.isEmpty, !isHeld, !transfer.isOver {
            let count: Int
            switch phase {
            case .head(let line):
                phase = .head(line: [])
                count = unsafe takeLine(line, rest)
            case .body(let framing): count = unsafe takeBody(framing, rest)
            case .open: count = unsafe deliver(rest)
            case .closed: return
            }
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        if isHeld { unsafe held = Array(rest) }
    }

    /// Takes a header line, or the beginning of one; returns the number of bytes taken.
    private func takeLine(_ begun: [UInt8], _ bytes: UnsafeRawBufferPointer) -> Int {
        let end = unsafe bytes.firstIndex(of: 0x0A)
        let count = end.map { $0 + 1 } ?? bytes.count
        var line = begun
        unsafe line += bytes.prefix(count)
        guard end != nil else {
            guard line.count <= multi.configuration.headerLimit else {
                return unsafe refuse(.headTooLarge, bytes)
            }
            phase = .head(line: line)
            return count
        }
        guard isValid(line) else { return unsafe refuse(.malformedHead, bytes) }
        phase = .head(line: [])
        let isTaken = unsafe line.withUnsafeBytes { unsafe transfer.receiveLine($0) }
        guard isTaken else {
            complete(CURLE_WRITE_ERROR)
            return count
        }
        if transfer.state.hasHead, let head = transfer.response.head { begin(head) }
        return count
    }

    /// Whether libcurl would accept a header line, as far as ``Transfer/receiveLine(_:)`` does not check it:
    /// no NUL, a version of HTTP/1, and a colon in each field line (RFC 9112 §4, §5).
    private func isValid(_ line: [UInt8]) -> Bool {
        guard !line.contains(0) else { return false }
        if transfer.state.awaitsStatusLine {
            return line.starts(with: "HTTP/1.1".utf8) || line.starts(with: "HTTP/1.0".utf8)
        }
        let isEmpty = line == [0x0A] || line == [0x0D, 0x0A]
        return isEmpty || line.first == 0x20 || line.first == 0x09 || line.contains(UInt8(ascii: ":"))
    }

    /// Ends the exchange; returns the number of bytes, which are not needed.
    private func refuse(_ reason: TransferState.Refusal, _ bytes: UnsafeRawBufferPointer) -> Int {
        transfer.state.refuse(reason)
        complete(CURLE_WRITE_ERROR)
        return bytes.count
    }

    /// Begins with the part after the head.
    private func begin(_ head: ResponseHead) {
        guard case .head = phase else { return }
        guard head.status.code == 101 else {
            guard let framing = BodyFraming(of: head, length: transfer.response.length.value) else {
                transfer.state.refuse(.unknownTransferCoding)
                return complete(CURLE_WRITE_ERROR)
            }
            phase = .body(framing)
            if case .end = unsafe framing.step(in: UnsafeRawBufferPointer(start: nil, count: 0)) {
                complete(CURLE_OK)
            }
            return
        }
        phase = .open
        guard let upgrade = transfer.request.upgrade, !transfer.isOver else { return }
        output.subscribe(to: upgrade.output, on: multi.loop) { [unowned self] in
            flush()
            watch()
        } onFailure: { [unowned self] error in
            multi.perform(.fail(transfer, error))
        }
    }

    private func takeBody(_ framing: BodyFraming, _ bytes: UnsafeRawBufferPointer) -> Int {
        var framing = framing
        let step = unsafe framing.step(in: bytes)
        var count: Int
        switch step {
        case .skip(let skipped):
            count = skipped
            if framing.isInTrailers {
                trailerBytes += count
                let limit = multi.configuration.headerLimit - transfer.state.headBytes
                guard trailerBytes <= limit else { return unsafe refuse(.headTooLarge, bytes) }
            }
        case .content(let available):
            count = unsafe deliver(UnsafeRawBufferPointer(rebasing: bytes.prefix(available)))
            guard count > 0 else { return 0 }
        case .end: count = bytes.count
        case .malformed:
            return unsafe refuse(.malformedChunk, bytes)
        }
        unsafe framing.advance(by: step, in: bytes)
        guard case .body = phase else { return count }
        phase = .body(framing)
        let next = unsafe framing.step(in: UnsafeRawBufferPointer(rebasing: bytes[count...]))
        if case .end = next {
            complete(CURLE_OK)
            count = bytes.count
        }
        return count
    }

    /// Passes bytes on; returns their number, or 0 if they are kept because the consumer has paused.
    private func deliver(_ bytes: UnsafeRawBufferPointer) -> Int {
        switch unsafe transfer.receiveChunk(bytes) {
        case .taken:
            receivedBytes += bytes.count
            return bytes.count
        case .kept:
            isHeld = true
            return 0
        case .refused:
            complete(CURLE_WRITE_ERROR)
            return bytes.count
        }
    }

    /// Continues after the consumer's pause.
    func resume() {
        multi.loop.assertCurrent()
        guard isHeld, !phase.isClosed else { return }
        isHeld = false
        var bytes: [UInt8] = []
        swap(&bytes, &held)
        unsafe bytes.withUnsafeBytes { unsafe take($0) }
        guard !isHeld else { return }
        readLater()
        watch()
    }

    // MARK: - The end

    private func endOfStream() {
        switch phase {
        case .open: complete(CURLE_OK)
        case .body(let framing): complete(framing.endsWithConnection ? CURLE_OK : CURLE_PARTIAL_FILE)
        case .head: complete(CURLE_OK)
        case .closed: break
        }
    }

    private func complete(_ code: CURLcode) {
        guard !phase.isClosed, let handle = transfer.handle else { return }
        transfer.complete(handle, code)
    }

    private func failLost(_ details: String) {
        multi.perform(.fail(transfer, transfer.lostConnection(details)))
    }

    /// Sends as much as the network takes.
    private func flush() { flush(on: connection) }

    private func flush(on connection: ConnectionBytes) {
        while let outcome = output.send(on: connection) {
            switch outcome {
            case .bytes: continue
            case .wait: return
            // The reason for the end of the connection may still be unread.
            case .failed(let text):
                output.close()
                if !isOpen { failLost(text) }
                return
            }
        }
    }
}

extension UpgradeExchange.Phase {
    fileprivate var isClosed: Bool { if case .closed = self { true } else { false } }
}

extension Transfer {
    /// Takes over the connection that curl has made.
    func beginUpgrade(_ handle: EasyHandle) {
        guard let socket = handle.socket else {
            let error = NetworkError(.connectionLost, "the connection broke before the request was sent")
            return multi.perform(.fail(self, error))
        }
        // curl no longer waits for the socket, and its poll must not be a second one on it.
        multi.sockets.close(socket)
        // The connection is not one of those that requests wait for.
        multi.queue.leave(self)
        multi.recordUpgrades(1)
        let connection = ConnectionBytes(
            handle: handle, descriptor: socket, isPlain: target.isPlain && multi.settings.isDirect)
        let upgrade = UpgradeExchange(self, on: connection)
        self.upgrade = upgrade
        do throws(NetworkError) {
            let list = try multi.recent.headers.list(for: self)
            // Only the connection is curl's, and it may stay open for long.
            handle.forgetHeaders()
            do throws(UVError) {
                try upgrade.start(
                    request.upgrade?.opening ?? RequestHeadBytes.bytes(of: request, to: target, list))
            } catch {
                let shortage = Shortage.number(-error.rawValue)
                var failure = NetworkError(
                    shortage == nil ? .connect : .resources, "the socket cannot be watched: \(error)")
                failure.systemError = Int(-error.rawValue)
                throw failure
            }
        } catch {
            multi.perform(.fail(self, error))
        }
    }
}

extension Multi {
    /// Records that a connection has been taken over, or given back: curl must not count it among those that
    /// it limits.
    func recordUpgrades(_ change: Int) {
        upgrades.count += change
        if let raw = unsafe raw { unsafe limitConnections(raw) }
    }
}

extension EasyHandle {
    /// Makes curl only connect, through proxies and with TLS; the handle is not used again
    /// (`CURLOPT_CONNECT_ONLY`).
    ///
    /// - Parameter speaksHTTP: whether the handshake of TLS may offer HTTP (ALPN, RFC 7301).
    func setConnectOnly(speaksHTTP: Bool) {
        set(CURLOPT_CONNECT_ONLY, 1)
        if !speaksHTTP { set(CURLOPT_SSL_ENABLE_ALPN, 0) }
        // With HTTP/2 in the handshake, the server would expect that version.
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        // A proxy must pass on the bytes of both protocols unseen.
        set(CURLOPT_HTTPPROXYTUNNEL, 1)
        // curl reads nothing from the connection; this is the smallest buffer that it takes.
        set(CURLOPT_BUFFERSIZE, 1024)
    }
}

/// The shared state of the connections of one loop that have changed, or are about to change, to another protocol.
@safe
struct UpgradedConnections: ~Copyable {
    // Safe: the buffer lives as long as this value.

    /// The number of these connections, which the limits of curl must not include.
    var count = 0
    private var buffer: UnsafeMutableRawBufferPointer?

    /// The size of reads, in bytes.
    private static let size = 64 << 10

    /// The buffer into which all these connections are read, one after another.
    mutating func readBuffer() -> UnsafeMutableRawBufferPointer {
        if let buffer = unsafe buffer { return unsafe buffer }
        let made = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.size, alignment: 16)
        unsafe buffer = unsafe made
        return unsafe made
    }

    deinit { unsafe buffer?.deallocate() }
}
