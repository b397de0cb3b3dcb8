public import RxHTTP
public import RxLite

/// The content of an upload: a file, bytes, or a stream.
///
/// It is uploaded as it is. For content with a coding, pass the coded bytes and name the coding in the endpoint's
/// `Content-Encoding`: offsets and lengths count coded bytes.
public struct UploadContent: Sendable {
    enum Kind: Sendable {
        case file(String)
        case bytes([UInt8])
        case stream(Observable<[UInt8], NetworkError>, length: Int64?)
    }

    let kind: Kind

    var isStream: Bool { if case .stream = kind { true } else { false } }
    /// The number of bytes of a stream, if it is known.
    var announcedLength: Int64? { if case .stream(_, let length) = kind { length } else { nil } }

    /// A file, read from the disk while it is sent.
    ///
    /// A change of the file during the upload, or between two runs of it, fails with `contentChanged`.
    public static func file(_ path: String) -> UploadContent { UploadContent(kind: .file(path)) }

    /// Bytes in memory.
    public static func bytes(_ bytes: [UInt8]) -> UploadContent { UploadContent(kind: .bytes(bytes)) }

    /// The chunks of a stream, which is subscribed to once.
    ///
    /// The bytes that the server has not confirmed are kept in memory, up to the size of one request, and the stream is
    /// paused meanwhile. So an upload goes on after an interruption of the network, but not in another process, and it has
    /// no record: nothing could tell that another stream has the same content.
    ///
    /// - Parameters:
    ///   - chunks: the bytes, in chunks of any length.
    ///   - length: the number of bytes, if it is known. A stream with more or fewer fails with `bodyLength`. Default `nil`.
    public static func stream(
        _ chunks: Observable<[UInt8], NetworkError>, length: Int64? = nil
    ) -> UploadContent { UploadContent(kind: .stream(chunks, length: length)) }
}

extension UploadContent: RedactedDescription {
    /// The kind and the size; never the content.
    public var description: String {
        switch kind {
        case .file(let path): "the file \(path)"
        case .bytes(let bytes): "\(bytes.count) bytes"
        case .stream(_, let length): length.map { "a stream of \($0) bytes" } ?? "a stream"
        }
    }
}

extension NetworkError.Code {
    /// The file of an upload, or the object of a download in parts, is not the same as when the transfer began.
    public static let contentChanged = NetworkError.Code(rawValue: "contentChanged")
    /// The server needs bytes of a stream that are not kept any more, or not read yet.
    public static let contentUnavailable = NetworkError.Code(rawValue: "contentUnavailable")
}

/// The content of one running upload, read piece by piece.
final class UploadSource: @unchecked Sendable {
    // Unchecked: runs only inside the upload's lane, which is serial. Debug builds check that.

    private enum Source {
        case file(String, FileStatus)
        case bytes([UInt8])
        case stream(Observable<[UInt8], NetworkError>)
    }

    private let source: Source
    private let files: any FileSystem
    private let scope: Scope
    private let bufferSize: Int64
    private let digest: TransferDigest.Algorithm?
    /// The size of the slices in which a file is read for one of many requests, so that each needs little memory; `nil` for
    /// one request at a time.
    private let slice: Int64?

    /// The number of bytes, once it is known.
    private(set) var total: Int64?

    // Of a stream.
    private var announced: Int64?
    private var buffer: [UInt8] = []
    /// The index in the buffer of the first byte that is kept. Those before are removed once they are the greater part, since
    /// that moves the rest.
    private var first = 0
    /// The offset of the first byte that is kept.
    private var start: Int64 = 0
    /// The number of bytes that are kept.
    private var kept: Int64 { Int64(buffer.count - first) }
    private var running: TransferDigest.Running?
    private var hasBegun = false
    private var completion: Completion<NetworkError>?
    private var input: Scope?
    private var isPaused = false
    /// Goes on with the `load` that waits for more of the stream; a second one would replace it.
    private var waiting: (() -> Void)?

    /// - Parameters:
    ///   - status: the status of the file.
    ///   - digest: the algorithm of the digest that a stream gets while it is read.
    ///   - bufferSize: the most bytes of a stream for one request.
    ///   - slice: the size of the slices in which a file is read for many requests at a time. Default `nil`: there is
    ///     one.
    init(
        _ content: UploadContent, status: FileStatus?, in files: any FileSystem, scope: Scope,
        bufferSize: Int64, digest: TransferDigest.Algorithm?, slice: Int64? = nil
    ) {
        self.slice = slice
        self.files = files
        self.scope = scope
        self.bufferSize = max(1, bufferSize)
        self.digest = digest
        switch content.kind {
        case .file(let path):
            let status = status ?? FileStatus(size: 0)
            source = .file(path, status)
            total = status.size
        case .bytes(let bytes):
            source = .bytes(bytes)
            total = Int64(bytes.count)
        case .stream(let chunks, let length):
            source = .stream(chunks)
            announced = length
            total = length
            running = digest.map { .init($0) }
        }
    }

    /// The digest of a stream that has been read to its end.
    var streamDigest: TransferDigest? {
        guard case .finished = completion else { return nil }
        return running?.finished
    }

    /// Finds the piece at an offset, of at most `limit` bytes.
    func load(
        from offset: Int64, limit: Int64?,
        then report: @escaping @Sendable (Result<UploadPiece, NetworkError>) -> Void
    ) {
        scope.lane.assertInside()
        guard case .stream(let chunks) = source else {
            let total = total ?? 0
            guard offset <= total else {
                return report(.failure(.unavailable(offset)))
            }
            let count = min(limit ?? .max, total - offset)
            return report(
                .success(UploadPiece(offset: offset, count: count, isLast: offset + count == total)))
        }
        // A stream can neither go back nor skip.
        guard (start...start + kept).contains(offset) else {
            return report(.failure(.unavailable(offset)))
        }
        let limit = min(limit ?? bufferSize, bufferSize)
        if !hasBegun { begin(chunks) }
        fill(offset, limit, report)
    }

    private func fill(
        _ offset: Int64, _ limit: Int64,
        _ report: @escaping @Sendable (Result<UploadPiece, NetworkError>) -> Void
    ) {
        if case .failed(let error) = completion { return report(.failure(error)) }
        let available = start + kept - offset
        // A byte more, which shows that the piece is not the last.
        guard completion != nil || available > limit else {
            waiting = { self.fill(offset, limit, report) }
            return resume()
        }
        let count = min(limit, available)
        report(
            .success(
                UploadPiece(offset: offset, count: count, isLast: completion != nil && count == available)))
    }

    /// The body with a piece.
    func body(of piece: UploadPiece) -> Body {
        guard piece.count > 0 else { return .empty }
        switch source {
        case .file(let path, let status):
            guard let slice else { return files.body(of: path, piece.offset..<piece.end, expecting: status) }
            return .streamed(
                StreamedBody(isReplayable: true, count: piece.count) { [files] _ in
                    let chunks = files.slices(
                        of: path, from: piece.offset, count: piece.count, size: slice, expecting: status)
                    return .just(StreamedBody.Content(length: piece.count, chunks: chunks))
                })
        case .bytes(let bytes):
            return .bytes(Array(bytes[Int(piece.offset)..<Int(piece.end)]))
        case .stream:
            return .bytes(
                Array(buffer[(first + Int(piece.offset - start))..<(first + Int(piece.end - start))]))
        }
    }

    /// The digest of a piece.
    func digest(
        of piece: UploadPiece, _ algorithm: TransferDigest.Algorithm
    ) -> Observable<TransferDigest, NetworkError> {
        guard case .file(let path, let status) = source else {
            guard case .bytes(let bytes) = body(of: piece) else {
                return .just(TransferDigest(of: [], algorithm))
            }
            return .deferred { .just(TransferDigest(of: bytes, algorithm)) }
        }
        return files.digests(
            of: path, [algorithm], from: piece.offset, count: piece.count, expecting: status
        )
        .map { digests throws(NetworkError) in
            guard let digest = digests.first else { throw .unavailable(piece.offset) }
            return digest
        }
    }

    /// Drops the bytes of a stream before an offset: the server has confirmed them, or, for ``S3MultipartRun``, the run
    /// keeps the bodies that have them.
    func release(upTo offset: Int64) {
        guard case .stream = source, offset > start else { return }
        let count = min(offset - start, kept)
        first += Int(count)
        start += count
        guard first > buffer.count / 2 else { return }
        buffer.removeFirst(first)
        first = 0
    }

    // MARK: - The stream

    private func begin(_ chunks: Observable<[UInt8], NetworkError>) {
        hasBegun = true
        let input = scope.child()
        self.input = input
        chunks.subscribe(
            Observer(scope: input, next: { self.receive($0) }, end: { self.receive($0) }))
    }

    private func receive(_ chunk: [UInt8]) {
        scope.lane.assertInside()
        guard completion == nil else { return }
        buffer += chunk
        running?.update(chunk)
        // Not only at its end: the server has the announced bytes before, and may call them complete.
        if let announced, start + kept > announced {
            let error = NetworkError(
                .bodyLength, "the stream has more bytes than the announced \(announced)")
            return receive(Completion<NetworkError>.failed(error))
        }
        if !isPaused, kept > bufferSize {
            isPaused = true
            input?.pause()
        }
        proceed()
    }

    private func receive(_ completion: Completion<NetworkError>) {
        input?.close()
        self.completion = completion
        if case .finished = completion {
            let length = start + kept
            if let announced, announced != length {
                self.completion = .failed(
                    NetworkError(
                        .bodyLength, "the stream has \(length) bytes instead of the announced \(announced)"))
            } else {
                total = length
            }
        }
        proceed()
    }

    private func proceed() {
        guard let work = waiting else { return }
        waiting = nil
        work()
    }

    private func resume() {
        guard isPaused else { return }
        isPaused = false
        input?.resume()
    }
}

extension NetworkError {
    fileprivate static func unavailable(_ offset: Int64) -> NetworkError {
        NetworkError(
            .contentUnavailable,
            "the server needs the content from byte \(offset) on, which is not available")
    }
}
