public import RxLite

/// Content that is produced piece by piece while it is sent, as fast as the network takes it.
///
/// Made by ``Body/file(_:range:)``, ``Body/stream(_:length:isReplayable:)`` and ``Multipart``.
public struct StreamedBody: Sendable {
    /// The content to send, once it has been determined.
    package struct Content: Sendable {
        /// The number of bytes; `nil` if it is unknown, so that they are sent in chunks (RFC 9112 §7.1).
        package var length: Int64? { didSet { file = nil } }
        /// The bytes. Paused while the network is slow; cancelled if the transfer ends before they do.
        package var chunks: Observable<[UInt8], NetworkError> { didSet { file = nil } }
        /// The file part that `chunks` reads, if it reads nothing else; a transport may read it another way,
        /// so a change of the other two removes it.
        package private(set) var file: FilePart?

        /// Creates content whose chunks total `length` bytes. With a byte more or less they fail with
        /// ``NetworkError/Code/bodyLength`` before the last of them is sent.
        package init(length: Int64?, chunks: Observable<[UInt8], NetworkError>) {
            self.length = length
            self.chunks = length.map { chunks.checked(against: $0) } ?? chunks
        }

        /// Creates content that is part of a file.
        init(_ file: FilePart) {
            length = file.count
            chunks = file.files.read(
                file.path, from: file.offset, count: file.count, expecting: file.status)
            self.file = file
        }

        /// Creates content from chunks that are known to total `length` bytes.
        init(length: Int64, exactly chunks: Observable<[UInt8], NetworkError>) {
            self.length = length
            self.chunks = chunks
        }
    }

    /// Whether the body may be sent again, for a retry, a relogin or a 307.
    public let isReplayable: Bool
    /// The number of bytes, if it is known before the body is opened.
    public let count: Int64?
    /// Determines the content to send. Called once each time the body is sent.
    package let open: @Sendable (any FileSystem) -> Observable<Content, NetworkError>
    /// Distinguishes the body from all others except its copies.
    private let identity = Identity()

    private final class Identity: Sendable {}

    /// Creates a body from a closure that determines its content when it is sent.
    package init(
        isReplayable: Bool, count: Int64? = nil,
        open: @escaping @Sendable (any FileSystem) -> Observable<Content, NetworkError>
    ) {
        self.isReplayable = isReplayable
        self.count = count
        self.open = open
    }

    /// The content to send, for transports: the number of bytes, `nil` if it is unknown, and the bytes. One value, then the
    /// end.
    ///
    /// A transport pauses the bytes while the network is slow, and cancels them if the transfer ends before they do.
    ///
    /// - Parameter files: the file system of a body that is a file, or has parts that are.
    public func content(
        from files: any FileSystem
    ) -> Observable<(length: Int64?, chunks: Observable<[UInt8], NetworkError>), NetworkError> {
        open(files).map { ($0.length, $0.chunks) }
    }
}

extension StreamedBody: Hashable {
    /// Whether one is a copy of the other.
    public static func == (first: StreamedBody, second: StreamedBody) -> Bool {
        first.identity === second.identity
    }

    /// Hashes its identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(identity)) }
}

extension Body {
    /// A file, read from disk while it is sent; with its length, and replayable.
    ///
    /// The request fails with ``NetworkError/Code/file`` if the file does not exist, is shorter than `range`,
    /// or changes while it is being sent; the server then never receives the full announced length.
    ///
    /// - Parameters:
    ///   - path: the path, absolute or relative to the working directory of the process.
    ///   - range: the bytes to send. Default all.
    public static func file(_ path: String, range: Range<Int64>? = nil) -> Body {
        let count = range.flatMap { $0.lowerBound < 0 ? nil : $0.upperBound - $0.lowerBound }
        return .streamed(
            StreamedBody(isReplayable: true, count: count) { files in
                files.status(of: path).map { status throws(NetworkError) in
                    guard let status else { throw NetworkError(.file, "the file \(path) does not exist") }
                    let range = range ?? 0..<status.size
                    guard range.lowerBound >= 0, range.upperBound <= status.size else {
                        throw NetworkError(
                            .file, "the range \(range) is outside the \(status.size) bytes of \(path)")
                    }
                    let count = range.upperBound - range.lowerBound
                    return .init(
                        FilePart(
                            files: files, path: path, offset: range.lowerBound, count: count, status: status))
                }
            })
    }

    /// The chunks of a stream, sent as they arrive. A slow network pauses the stream.
    ///
    /// A failure of the stream fails the request; the server does not take the incomplete body for a complete
    /// one.
    ///
    /// - Parameters:
    ///   - chunks: subscribed to when the connection is ready to send.
    ///   - length: the total number of bytes. Default unknown: the body is then sent with `Transfer-Encoding:
    ///     chunked`, which not every server accepts. One byte more or less fails the request with
    ///     ``NetworkError/Code/bodyLength``.
    ///   - isReplayable: whether subscribing again gives the same bytes. Default false: the request is then
    ///     sent once. It is neither retried nor replayed after a relogin, and no redirect forwards it with
    ///     its body.
    public static func stream(
        _ chunks: Observable<[UInt8], NetworkError>, length: Int64? = nil, isReplayable: Bool = false
    ) -> Body {
        .streamed(
            StreamedBody(isReplayable: isReplayable, count: length) { _ in
                let content = StreamedBody.Content(length: length, chunks: chunks)
                // The transport does not ask for the chunks of an empty body, so they are checked here.
                guard length == 0 else { return .just(content) }
                return content.chunks.collect().map { _ in .init(length: 0, exactly: .empty()) }
            })
    }
}

extension Observable where Element == [UInt8], Failure == NetworkError {
    /// Passes the chunks on if they total exactly `length` bytes. The chunk that completes them is held back
    /// until the source ends, so that a body that is too long is never sent as if it were complete.
    func checked(against length: Int64) -> Observable {
        lift { observer in
            let check = LengthCheck(length, observer)
            return Observer(scope: check.scope, next: check.receive, end: check.receive)
        }
    }
}

/// The state of one length check.
private final class LengthCheck: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    let scope: Scope
    private let length: Int64
    private let observer: Observer<[UInt8], NetworkError>
    private var count: Int64 = 0
    private var last: [UInt8]?

    init(_ length: Int64, _ observer: Observer<[UInt8], NetworkError>) {
        self.length = length
        self.observer = observer
        scope = observer.scope.child()
    }

    @Sendable
    func receive(_ chunk: [UInt8]) {
        guard !chunk.isEmpty else { return }
        count += Int64(chunk.count)
        if count < length { return observer.next(chunk) }
        if count == length {
            last = chunk
            return
        }
        end(.failed(NetworkError(.bodyLength, "the body is longer than its announced \(length) bytes")))
    }

    @Sendable
    func receive(_ completion: Completion<NetworkError>) {
        guard case .finished = completion else { return end(completion) }
        guard count == length else {
            let message = "the body ended after \(count) of its announced \(length) bytes"
            return end(.failed(NetworkError(.bodyLength, message)))
        }
        if let last { observer.next(last) }
        if observer.scope.isOpen { end(.finished) }
    }

    private func end(_ completion: Completion<NetworkError>) {
        scope.close()
        last = nil
        observer.end(completion)
    }
}
