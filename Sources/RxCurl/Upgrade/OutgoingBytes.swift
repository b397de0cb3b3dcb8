internal import RxHTTP
internal import RxLite
internal import RxLoop

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
