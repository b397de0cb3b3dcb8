import RxHTTP
import RxLite
import RxLoop

/// The source from which curl reads the content of a request, unless it is small: takes chunks from a stream,
/// a limited distance ahead of curl.
///
/// The stream is subscribed to when curl first asks, that is, when the connection is ready.
final class ContentSource: @unchecked Sendable {
    // Unchecked: touched on the loop only.

    /// The result of a read.
    enum Supply {
        /// The number of bytes that were copied.
        case bytes(Int)
        /// No bytes yet; ``Multi/feed(_:)`` is called when there are more.
        case none
        /// The end of the content.
        case end
    }

    /// Where the bytes come from.
    enum Input {
        case chunks(Observable<[UInt8], NetworkError>)
        /// Bytes of the file that are in memory are copied directly to curl, without chunks.
        case file(FilePart, LoopFileSystem)
    }

    /// The number of bytes, if it is known.
    let length: Int64?
    private let input: Input
    private let isReplayable: Bool

    /// The number of bytes read ahead at which the stream is paused (documented in Bodies.md of RxNetworking), and at
    /// which it is resumed.
    private static let highWater = 512 << 10
    private static let lowWater = 256 << 10

    private var scope: Scope?
    /// Set while a file is read: ``read(into:for:)`` takes bytes from it when no chunk waits.
    private var reading: FileReading?
    private var waiting: [[UInt8]] = []
    /// The position of curl: the index of the chunk, and the offset in it.
    private var index = 0
    private var offset = 0
    private var waitingBytes = 0
    private var isPaused = false
    private var hasStarted = false
    private var hasEnded = false
    /// The number of bytes that curl has taken.
    private(set) var takenBytes: Int64 = 0
    /// Whether curl has been told to wait.
    private(set) var isStarved = false
    /// Whether the transfer waits for the first byte before it is passed to curl.
    private(set) var isAwaited = false
    /// Whether the next ``close()`` keeps the stream in its current state.
    private var isKept = false

    /// Whether the stream has ended without a byte.
    var isEmpty: Bool { hasEnded && takenBytes == 0 && waitingBytes == 0 }

    /// Whether curl has taken all bytes.
    var isExhausted: Bool { hasEnded && waitingBytes == 0 }

    init(_ input: Input, length: Int64?, isReplayable: Bool) {
        self.length = length
        self.input = input
        self.isReplayable = isReplayable
    }

    /// Subscribes to the stream before curl asks, unless it was kept. ``Multi/proceed(_:)`` is called when there is
    /// a byte, or when the stream ends without one; false if a kept stream has come so far already.
    func open(for transfer: Transfer) -> Bool {
        guard waitingBytes == 0, !hasEnded else { return false }
        isAwaited = true
        if !hasStarted { start(for: transfer) }
        return true
    }

    /// Copies as many of the available bytes as fit.
    func read(into buffer: UnsafeMutableRawBufferPointer, for transfer: Transfer) -> Supply {
        transfer.multi.loop.assertCurrent()
        if !hasStarted { start(for: transfer) }
        var filled = 0
        while filled < buffer.count, index < waiting.count {
            let piece = waiting[index]
            let count = min(buffer.count - filled, piece.count - offset)
            unsafe piece.withUnsafeBytes { source in
                let part = unsafe UnsafeRawBufferPointer(rebasing: source[offset..<(offset + count)])
                unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).copyMemory(from: part)
            }
            filled += count
            offset += count
            if offset == piece.count {
                waiting[index] = []
                index += 1
                offset = 0
            }
        }
        if index == waiting.count {
            waiting.removeAll(keepingCapacity: true)
            index = 0
        }
        waitingBytes -= filled
        takenBytes += Int64(filled)
        if isPaused, waitingBytes <= Self.lowWater { resume() }
        if filled > 0 { return .bytes(filled) }
        if let count = unsafe reading?.take(into: buffer) { return take(count) }
        if hasEnded { return .end }
        isStarved = true
        return .none
    }

    /// Counts bytes that were copied directly from a file to curl.
    private func take(_ count: Int) -> Supply {
        takenBytes += Int64(count)
        if takenBytes == length {
            hasEnded = true
            leave()
        }
        return .bytes(count)
    }

    /// Records that curl will not ask again, so it is no longer told about new bytes.
    func stopWaiting() { isStarved = false }

    /// Returns to the first byte, if the content can be read again or no byte was taken.
    func rewind() -> Bool {
        guard takenBytes > 0 else { return true }
        guard isReplayable else { return false }
        close()
        reopen()
        return true
    }

    /// Whether the content can be read from the start by another handle.
    var canReopen: Bool { isReplayable || takenBytes == 0 }

    /// Keeps the stream open for another handle when the current one releases it, as long as no byte has been
    /// taken.
    func keep() { isKept = hasStarted && takenBytes == 0 }

    /// Prepares for another handle, unless the stream was kept.
    func reopen() {
        isStarved = false
        guard takenBytes > 0 else { return }
        hasStarted = false
        takenBytes = 0
    }

    /// Cancels the stream. It delivers nothing more.
    func close() {
        if isKept {
            isKept = false
            return
        }
        leave()
        waiting = []
        (index, offset, waitingBytes) = (0, 0, 0)
        (isPaused, hasEnded, isStarved, isAwaited) = (false, false, false, false)
    }

    private func leave() {
        scope?.cancel()
        scope = nil
        reading = nil
    }

    private func start(for transfer: Transfer) {
        hasStarted = true
        let lane = Lane(scheduler: transfer.multi.loop)
        let scope = Scope(lane: lane)
        self.scope = scope
        let observer = Observer<[UInt8], NetworkError>(
            scope: scope, next: { self.receive($0, for: transfer) },
            end: { completion in
                scope.close()
                self.receive(completion, for: transfer)
            })
        switch input {
        case .chunks(let chunks): lane.enter { chunks.subscribe(observer) }
        case .file(let part, let files):
            let reading = FileReading(part, in: files, into: observer)
            self.reading = reading
            lane.enter { reading.start() }
        }
    }

    private func receive(_ chunk: [UInt8], for transfer: Transfer) {
        transfer.multi.loop.assertCurrent()
        guard !chunk.isEmpty else { return }
        waiting.append(chunk)
        waitingBytes += chunk.count
        if !isPaused, waitingBytes >= Self.highWater {
            isPaused = true
            scope?.pause()
        }
        supply(transfer)
    }

    private func receive(_ completion: Completion<NetworkError>, for transfer: Transfer) {
        transfer.multi.loop.assertCurrent()
        scope = nil
        reading = nil
        switch completion {
        case .finished:
            let count = takenBytes + Int64(waitingBytes)
            if let length, count != length {
                let message = "the body has \(count) bytes, but \(length) were announced"
                return transfer.multi.perform(.fail(transfer, NetworkError(.bodyLength, message)))
            }
            hasEnded = true
            supply(transfer)
        case .failed(let error): transfer.multi.perform(.fail(transfer, error))
        }
    }

    private func supply(_ transfer: Transfer) {
        if isAwaited {
            isAwaited = false
            transfer.multi.perform(.proceed(transfer))
        }
        guard isStarved else { return }
        isStarved = false
        transfer.multi.perform(.feed(transfer))
    }

    private func resume() {
        isPaused = false
        if let scope { scope.enter { scope.resume() } }
    }
}
