internal import HTTPTypes
internal import RxHTTP
internal import RxLite

/// The content that a transfer sends after the head.
enum TransferContent {
    /// No content; for methods that define content, an empty one.
    case none
    /// A small body, copied once and sent in one go with the head (`CURLOPT_POSTFIELDS`).
    case inline([UInt8])
    /// A body that curl reads in parts (`CURLOPT_READFUNCTION`).
    case streamed(ContentSource)

    /// The maximum size of an inline body, in bytes.
    static let inlineLimit = 64 << 10

    /// Creates the content of a body in memory.
    init(_ bytes: [UInt8]) {
        if bytes.isEmpty {
            self = .none
        } else if bytes.count <= Self.inlineLimit {
            self = .inline(bytes)
        } else {
            let count = Int64(bytes.count)
            self = .streamed(ContentSource(.chunks(.just(bytes)), length: count, isReplayable: true))
        }
    }

    /// Creates the content of a body that has been opened.
    init(_ content: StreamedBody.Content, isReplayable: Bool) {
        let origin: ContentSource.Origin
        if let file = content.file, let files = file.files as? LoopFileSystem {
            origin = .file(file, files)
        } else {
            origin = .chunks(content.chunks)
        }
        self = .streamed(ContentSource(origin, length: content.length, isReplayable: isReplayable))
    }

    /// The number of bytes; `nil` if unknown.
    var length: Int64? {
        switch self {
        case .none: 0
        case .inline(let bytes): Int64(bytes.count)
        case .streamed(let source): source.length
        }
    }

    var source: ContentSource? {
        if case .streamed(let source) = self { source } else { nil }
    }

    /// How the header fields describe the content.
    func framing(of request: Request) -> Framing {
        switch self {
        case .none:
            switch request.method {
            case .post, .put, .patch: .known
            default: .none
            }
        case .inline, .streamed: length == nil ? .chunked : .known
        }
    }

    /// How the end of the content is marked.
    enum Framing: Equatable {
        /// There is no content.
        case none
        /// By its length.
        case known
        /// By its last chunk (RFC 9112 §7.1).
        case chunked
    }
}
