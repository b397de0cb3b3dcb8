internal import HTTPTypes
internal import RxHTTP
internal import RxLite

/// What a transfer sends besides the head.
enum TransferContent {
    /// Nothing, or for methods that define content, none of it.
    case none
    /// A small body, copied once and sent together with the head in one go (`CURLOPT_POSTFIELDS`).
    case inline([UInt8])
    /// A body that curl asks for bit by bit (`CURLOPT_READFUNCTION`).
    case streamed(ContentSource)

    /// What is sent in one go at most.
    static let inlineLimit = 64 << 10

    /// The content of a body that needs no opening.
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

    /// The content of a body that has been opened.
    init(_ content: StreamedBody.Content, isReplayable: Bool) {
        let origin: ContentSource.Origin
        if let file = content.file, let files = file.files as? LoopFileSystem {
            origin = .file(file, files)
        } else {
            origin = .chunks(content.chunks)
        }
        self = .streamed(ContentSource(origin, length: content.length, isReplayable: isReplayable))
    }

    /// The number of bytes; `nil` if it is not known.
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

    /// What the header fields must say about the content.
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

    /// How the end of the content is told.
    enum Framing: Equatable {
        /// There is none.
        case none
        /// By its length.
        case known
        /// By its last chunk (RFC 9112 §7.1).
        case chunked
    }
}
