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
        let range =
            request.headers[HTTPHeader("If-Range")].map { $0 == tag } ?? true ? Self.range(request) : nil
        guard let range else {
            return HTTPResponse(statusCode: .ok, headers: headers, body: body(0..<size, counters))
        }
        guard range.start < size else {
            headers[HTTPHeader("Content-Range")] = "bytes */\(size)"
            return HTTPResponse(
                statusCode: HTTPStatusCode(416, phrase: "Range Not Satisfiable"), headers: headers)
        }
        let last = min(range.last ?? size - 1, size - 1)
        headers[HTTPHeader("Content-Range")] = "bytes \(range.start)-\(last)/\(size)"
        return HTTPResponse(
            statusCode: HTTPStatusCode(206, phrase: "Partial Content"), headers: headers,
            body: body(range.start..<(last + 1), counters))
    }

    /// A range `bytes=START-` or `bytes=START-LAST`; other ranges may be ignored (RFC 9110 §14.2).
    private static func range(_ request: HTTPRequest) -> (start: Int, last: Int?)? {
        guard let words = request.headers[HTTPHeader("Range")]?.wholeMatch(of: #/bytes=(\d+)-(\d*)/#),
            let start = Int(words.1)
        else { return nil }
        guard !words.2.isEmpty else { return (start, nil) }
        guard let last = Int(words.2), last >= start else { return nil }
        return (start, last)
    }

    private func body(_ range: Range<Int>, _ counters: Counters) -> HTTPBodySequence {
        let bytes = PacedBytes(
            range: range, bytesPerSecond: bytesPerSecond,
            breaksAt: breaksAfter.map { range.lowerBound + $0 }, counters: counters)
        return HTTPBodySequence(from: bytes, count: range.count, suggestedBufferSize: 1 << 16)
    }
}
