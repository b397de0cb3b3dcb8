public import RxLite

/// Content that is made while it is sent, piece by piece, as fast as the network takes it.
public struct StreamedBody: Sendable {
    /// The content to send, once it is known.
    public struct Content: Sendable {
        /// The number of bytes; `nil` if it is unknown, so that they are sent in chunks (RFC 9112 §7.1).
        public var length: Int64? { didSet { file = nil } }
        /// The bytes. Paused while the network is slow; cancelled when the transfer ends before they do.
        public var chunks: Observable<[UInt8], NetworkError> { didSet { file = nil } }
        /// What `chunks` reads, if that is part of a file and nothing else: a transport may read it another way.
        package private(set) var file: FilePart?

        /// Creates content whose chunks come to `length`, or are not whole: with a byte more or less they fail
        /// with ``NetworkError/Code/bodyLength`` before the last of them is sent.
        public init(length: Int64?, chunks: Observable<[UInt8], NetworkError>) {
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

        /// Creates content that keeps to its length by itself.
        init(length: Int64, exactly chunks: Observable<[UInt8], NetworkError>) {
            self.length = length
            self.chunks = chunks
        }
    }

    /// Whether ``open`` may be called again, for a retry, a relogin or a 307.
    public let isReplayable: Bool
    /// The number of bytes, if it is known before the body is opened.
    public let count: Int64?
    /// Finds out what there is to send. Called once for each time that the body is sent.
    public let open: @Sendable (any FileSystem) -> Observable<Content, NetworkError>
    /// Tells it from all others but its copies.
    private let identity = Identity()

    private final class Identity: Sendable {}

    /// Creates a body from what it does when it is to be sent.
    public init(
        isReplayable: Bool, count: Int64? = nil,
        open: @escaping @Sendable (any FileSystem) -> Observable<Content, NetworkError>
    ) {
        self.isReplayable = isReplayable
        self.count = count
        self.open = open
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
    /// A file, read from the disk while it is sent; with its length, and replayable.
    ///
    /// A file that is not there, is shorter than `range` or changes while it is being sent fails the request with
    /// ``NetworkError/Code/file``, and the server never gets all of the announced length.
    ///
    /// - Parameters:
    ///   - path: its path, absolute or from the process's working directory.
    ///   - range: the bytes to send. Default all.
    public static func file(_ path: String, range: Range<Int64>? = nil) -> Body {
        let count = range.flatMap { $0.lowerBound < 0 ? nil : $0.upperBound - $0.lowerBound }
        return .streamed(
            StreamedBody(isReplayable: true, count: count) { files in
                files.status(of: path).map { status throws(NetworkError) in
                    guard let status else { throw NetworkError(.file, "\(path): there is no such file") }
                    let range = range ?? 0..<status.size
                    guard range.lowerBound >= 0, range.upperBound <= status.size else {
                        throw NetworkError(
                            .file, "\(path) has \(status.size) bytes; \(range) cannot be sent")
                    }
                    let count = range.upperBound - range.lowerBound
                    return .init(
                        FilePart(
                            files: files, path: path, offset: range.lowerBound, count: count, status: status))
                }
            })
    }

    /// The chunks of a stream, as they arrive. A slow network pauses the stream.
    ///
    /// A failure of the stream fails the request; the server does not take what it got for the whole.
    ///
    /// - Parameters:
    ///   - chunks: subscribed to when the connection is ready to send.
    ///   - length: how many bytes they come to. Default unknown: then the body is sent with
    ///     `Transfer-Encoding: chunked`, which not every server takes. One byte more or less fails the request
    ///     with ``NetworkError/Code/bodyLength``.
    ///   - isReplayable: whether subscribing again gives the same bytes. Default false: then the request is sent
    ///     once, and neither retried, nor replayed after a relogin, nor sent on by a redirect with its body.
    public static func stream(
        _ chunks: Observable<[UInt8], NetworkError>, length: Int64? = nil, isReplayable: Bool = false
    ) -> Body {
        .streamed(
            StreamedBody(isReplayable: isReplayable, count: length) { _ in
                let content = StreamedBody.Content(length: length, chunks: chunks)
                // Where nothing is to be sent nobody would ask for it.
                guard length == 0 else { return .just(content) }
                return content.chunks.collect().map { _ in .init(length: 0, exactly: .empty()) }
            })
    }
}
