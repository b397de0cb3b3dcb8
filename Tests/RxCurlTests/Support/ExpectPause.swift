import HTTPTypes
import RxCurl
import RxHTTP
import RxLite
import TestServers
import Testing

/// Expects that an endless upload stops asking its source while `server` does not read, until a cancel.
///
/// - Parameters:
/// - gate: the gate at which the server waits.
///   - isLengthKnown: whether the length is announced.
func expectPause(
    of transport: CurlTransport, to url: String, _ server: RawServer, _ gate: Gate,
    isLengthKnown: Bool = false
) async throws {
    let made = Board(0)
    let piece = [UInt8](repeating: 7, count: 64 << 10)
    let source = Observable<[UInt8], NetworkError>.sequence(repeatElement(piece, count: 100_000)).map {
        piece in
        made.update { $0 += 1 }
        return piece
    }
    let body = Body.stream(source, length: isLengthKnown ? 100_000 * Int64(piece.count) : nil)
    let recording = Recording(transport.send(try .to(url, method: .post, body: body)))
    _ = try await made.until { $0 > 4 ? true : nil }
    // Until there is no progress between two checks with many iterations of the loop in between.
    var seen = -1
    while seen != made.contents {
        try Task.checkCancellation()
        seen = made.contents
        for _ in 0..<2000 { await transport.loop.poll() }
    }
    #expect(seen < 500)
    recording.cancel()
    gate.open()
    _ = try await server.connectionEnded(0)
    #expect(made.contents - seen < 8)
}
