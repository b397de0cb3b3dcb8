internal import HTTPTypes
internal import RxHTTP

/// Finds the end of a response's body over HTTP/1.1 (RFC 9112 §6.3), for the responses that curl does not
/// read.
enum BodyFraming {
    /// The connection's end is the end.
    case untilEnd
    /// This number of bytes is left.
    case length(Int)
    case chunked(ChunkedBody)

    /// `nil` for a transfer coding other than `chunked`, which the request has not offered.
    ///
    /// - Parameter length: the value of `Content-Length`, if there is one.
    init?(of head: ResponseHead, length: Int?) {
        if let coding = head[.transferEncoding] {
            guard coding.lowercased() == "chunked" else { return nil }
            self = .chunked(ChunkedBody())
        } else if [204, 304].contains(head.status.code) {
            self = .length(0)
        } else {
            self = length.map { .length($0) } ?? .untilEnd
        }
    }

    /// The progress in the received bytes.
    enum Step {
        /// This number of bytes does not belong to the content.
        case skip(Int)
        /// This number of bytes is content.
        case content(Int)
        case end
        case malformed
    }

    /// The next step in bytes that have arrived, of which there is at least one unless the body is at its end.
    func step(in bytes: UnsafeRawBufferPointer) -> Step {
        switch self {
        case .untilEnd: .content(bytes.count)
        case .length(let left): left == 0 ? .end : .content(min(left, bytes.count))
        case .chunked(let body): unsafe body.step(in: bytes)
        }
    }

    /// Notes that a step has been made, to the bytes that it is about.
    mutating func advance(by step: Step, in bytes: UnsafeRawBufferPointer) {
        switch (self, step) {
        case (.length(let left), .content(let count)): self = .length(left - count)
        case (.chunked(var body), _):
            unsafe body.advance(by: step, in: bytes)
            self = .chunked(body)
        default: break
        }
    }

    /// Whether bytes that are skipped belong to the trailers.
    var isInTrailers: Bool { if case .chunked(let body) = self { body.isInTrailers } else { false } }

    /// Whether the body may end where the connection does.
    var endsWithConnection: Bool {
        switch self {
        case .untilEnd: true
        case .length(let left): left == 0
        case .chunked: false
        }
    }
}
