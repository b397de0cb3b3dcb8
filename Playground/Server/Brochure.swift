import FlyingFox
import FlyingSocks

/// A large file whose interrupted download a client can resume (RFC 9110 §14).
struct Brochure {
    let size: Int
    let bytesPerSecond: Int
    /// The number of bytes of a response after which its connection breaks, if any.
    var breaksAfter: Int?

    /// Brochures of the same size are identical.
    private var tag: String { "\"brochure-\(size)\"" }

    /// The whole file, or the part that a `Range` requests if `If-Range` allows it.
    func answer(to request: HTTPRequest, counters: Counters) -> HTTPResponse {
        var headers: HTTPHeaders = [
            .contentType: "application/pdf", HTTPHeader("ETag"): tag, HTTPHeader("Accept-Ranges"): "bytes",
        ]
        let start =
            request.headers[HTTPHeader("If-Range")].map { $0 == tag } ?? true ? Self.start(request) : nil
        guard let start else {
            return HTTPResponse(statusCode: .ok, headers: headers, body: body(from: 0, counters))
        }
        guard start < size else {
            headers[HTTPHeader("Content-Range")] = "bytes */\(size)"
            return HTTPResponse(
                statusCode: HTTPStatusCode(416, phrase: "Range Not Satisfiable"), headers: headers)
        }
        headers[HTTPHeader("Content-Range")] = "bytes \(start)-\(size - 1)/\(size)"
        return HTTPResponse(
            statusCode: HTTPStatusCode(206, phrase: "Partial Content"), headers: headers,
            body: body(from: start, counters))
    }

    /// The start of a range `bytes=START-`; other ranges may be ignored (RFC 9110 §14.2).
    private static func start(_ request: HTTPRequest) -> Int? {
        request.headers[HTTPHeader("Range")]?.wholeMatch(of: #/bytes=(\d+)-/#).flatMap { Int($0.1) }
    }

    private func body(from start: Int, _ counters: Counters) -> HTTPBodySequence {
        let bytes = PacedBytes(
            range: start..<size, bytesPerSecond: bytesPerSecond, breaksAt: breaksAfter.map { start + $0 },
            counters: counters)
        return HTTPBodySequence(from: bytes, count: size - start, suggestedBufferSize: 1 << 16)
    }
}
