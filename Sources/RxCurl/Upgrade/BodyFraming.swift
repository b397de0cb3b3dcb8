import HTTPTypes
import RxHTTP

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
        if [204, 304].contains(head.status.code) {
            // Whatever its fields say, as in ``Transfer/watchEnd()`` and ``Transfer/isResponseComplete(_:)``.
            self = .length(0)
        } else if let coding = head[.transferEncoding] {
            guard coding.lowercasedToken() == "chunked" else { return nil }
            self = .chunked(ChunkedBody())
        } else {
            self = length.map { .length($0) } ?? .untilEnd
        }
    }

    /// The progress in the received bytes.
    enum Step {
        /// This number of bytes belongs to the framing (size or line end of a chunk, trailers): one at a time, or 0 if
        /// more must arrive.
        case skip(Int)
        /// This number of bytes is content.
        case content(Int)
        case end
        case malformed
    }

    /// The next step in the received bytes. There is at least one byte unless the body is at its end.
    func step(in bytes: UnsafeRawBufferPointer) -> Step {
        switch self {
        case .untilEnd: .content(bytes.count)
        case .length(let left): left == 0 ? .end : .content(min(left, bytes.count))
        case .chunked(let body): unsafe body.step(in: bytes)
        }
    }

    /// Moves past the step. `bytes` are those that ``step(in:)`` saw: the skipped byte decides the next position. A new
    /// ``Step`` changes both functions, here and in ``ChunkedBody``.
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

/// The position in a body that is sent in chunks (RFC 9112 §7.1). Trailers are checked, and skipped.
struct ChunkedBody {
    private enum Position {
        /// In the digits of a chunk's size.
        case size(digits: Int)
        /// After the size, up to the end of the line.
        case restOfSize
        case content
        /// At the line end after the content.
        case endOfContent
        /// In the trailers; `isEmpty` if the current line has no byte yet, `hasColon` if it may end.
        case trailers(isEmpty: Bool, hasColon: Bool)
        case end
    }

    private var position = Position.size(digits: 0)
    /// The size of the current chunk, then the number of its bytes that are left.
    private var left = 0

    func step(in bytes: UnsafeRawBufferPointer) -> BodyFraming.Step {
        switch position {
        case .end: return .end
        case .content: return .content(min(left, bytes.count))
        case .size(let digits):
            guard let byte = unsafe bytes.first else { return .skip(0) }
            // The size fits into 63 bits.
            if Self.value(of: byte) != nil { return digits < 16 && left >> 59 == 0 ? .skip(1) : .malformed }
            return digits > 0 && [0x0A, 0x0D, 0x20, 0x09, 0x3B].contains(byte) ? .skip(1) : .malformed
        case .endOfContent:
            guard let byte = unsafe bytes.first else { return .skip(0) }
            return byte == 0x0D || byte == 0x0A ? .skip(1) : .malformed
        case .restOfSize: return .skip(min(1, bytes.count))
        case .trailers(let isEmpty, let hasColon):
            guard let byte = unsafe bytes.first else { return .skip(0) }
            return byte == 0x0A && !isEmpty && !hasColon ? .malformed : .skip(1)
        }
    }

    mutating func advance(by step: BodyFraming.Step, in bytes: UnsafeRawBufferPointer) {
        if case .content(let count) = step {
            left -= count
            if left == 0 { position = .endOfContent }
            return
        }
        guard let byte = unsafe bytes.first else { return }
        switch position {
        case .size(let digits):
            if let value = Self.value(of: byte) {
                left = left << 4 | value
                position = .size(digits: digits + 1)
            } else {
                endSize(byte)
            }
        case .restOfSize: endSize(byte)
        case .endOfContent: if byte == 0x0A { position = .size(digits: 0) }
        case .trailers(let isEmpty, let hasColon):
            if byte == 0x0A {
                position = isEmpty ? .end : .trailers(isEmpty: true, hasColon: false)
            } else if byte != 0x0D {
                position = .trailers(isEmpty: false, hasColon: hasColon || byte == UInt8(ascii: ":"))
            }
        case .content, .end: break
        }
    }

    private mutating func endSize(_ byte: UInt8) {
        guard byte == 0x0A else { return position = .restOfSize }
        position = left == 0 ? .trailers(isEmpty: true, hasColon: false) : .content
    }

    /// Whether the end of the content has been reached, so that skipped bytes belong to trailers.
    var isInTrailers: Bool { if case .trailers = position { true } else { false } }

    private static func value(of byte: UInt8) -> Int? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(byte - UInt8(ascii: "a")) + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(byte - UInt8(ascii: "A")) + 10
        default: nil
        }
    }
}
