import HTTPTypes
import RxCurl
import RxHTTP
import RxLite
import Synchronization
import TestServers
import Testing

/// Coded bodies, over a socket.
@Suite(.timeLimit(.minutes(1))) struct CodedBodyTests {
    @Test(arguments: CodedBody.all, CodedBody.Framing.allCases)
    func isDeliveredOrRefused(_ body: CodedBody, _ framing: CodedBody.Framing) async throws {
        let server = try RawServer([[.readRequest, .send(body.response(framing)), .close]])
        let log = try await withTransport { try await Recording($0.send(.to(server.baseURL))).ended() }
        #expect(log.ends.count == 1)
        #expect(log.head?[.contentEncoding] == body.coding)
        switch body.outcome {
        case .body(let text):
            #expect(log.error == nil)
            #expect(String(decoding: log.body, as: UTF8.self) == text)
            #expect(log.metrics?.bodyBytesReceived == body.bytes.count)
            #expect(log.metrics?.bodyBytesDecoded == text.utf8.count)
        case .fails(let code):
            #expect(log.error?.code == code)
            #expect(log.error?.status == .ok)
            #expect(log.kinds.last != "finished")
        }
    }

    static let codings: [(String, [UInt8])] = {
        let content = Array("whole".utf8)
        var codings = [
            ("gzip", Gzip.stored(content)), ("deflate", Gzip.deflated(content, isWrapped: true)),
            ("deflate", Gzip.deflated(content, isWrapped: false)),
            ("deflate, gzip", Gzip.stored(Gzip.deflated(content, isWrapped: true))),
        ]
        #if Brotli
        codings.append(("br", Brotli.whole))
        #endif
        #if Zstd
        codings.append(("zstd", Zstd.stored(content)))
        #endif
        return codings
    }()

    /// A body that is cut anywhere, though its framing is complete.
    @Test(arguments: codings.indices, CodedBody.Framing.allCases)
    func noPrefixIsTakenForTheWhole(index: Int, framing: CodedBody.Framing) async throws {
        let (coding, bytes) = Self.codings[index]
        let prefixes = (1..<bytes.count).map {
            CodedBody("", coding, Array(bytes.prefix($0)), .fails(.partialBody)).response(framing)
        }
        let server = try RawServer(prefixes.map { [.readRequest, .send($0), .close] })
        try await withTransport { transport in
            for count in 1..<bytes.count {
                let log = try await Recording(transport.send(.to(server.baseURL))).ended()
                #expect(log.error?.code == .partialBody, "\(count) of \(bytes.count) bytes")
            }
        }
    }

    @Test(arguments: codings.indices)
    func piecesOfOneByteAreDecoded(index: Int) async throws {
        let (coding, bytes) = Self.codings[index]
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(bytes.count)\r\n\r\n"
        let server = try RawServer([[.readRequest, .send(head), .sendInPieces(bytes, size: 1)]])
        let text = try await withTransport { try await $0.get(server.baseURL).text }
        #expect(text == "whole")
    }

    /// RFC 9110 §8.4: the codings in the order in which they were applied, in one line or several.
    @Test func codingsOfSeveralLinesAreOneList() async throws {
        let bytes = Gzip.stored(Gzip.deflated(Array("whole".utf8), isWrapped: true))
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\ncontent-encoding: gzip\r\n"
        let server = try RawServer([
            [.readRequest, .send(head + "Content-Length: \(bytes.count)\r\n\r\n"), .send(bytes)]
        ])
        let text = try await withTransport { try await $0.get(server.baseURL).text }
        #expect(text == "whole")
    }

    @Test(arguments: ["HEAD", "204", "304"])
    func whereThereIsNoBodyNoneIsMissing(kind: String) async throws {
        let status = Int(kind) ?? 200
        let server = try RawServer { _ in
            [.send("HTTP/1.1 \(status) X\r\nContent-Encoding: gzip\r\nContent-Length: 99\r\n\r\n")]
        }
        let log = try await withTransport { transport in
            let request = try Request.to(server.baseURL, method: kind == "HEAD" ? .head : .get)
            return try await Recording(transport.send(request)).ended()
        }
        #expect(log.error == nil)
        #expect(log.kinds == ["head", "finished"])
    }

    /// Nothing is decoded ahead of a paused subscriber, and nothing is lost.
    @Test(arguments: [false, true])
    func aPauseStopsTheDecoding(hasTrailers: Bool) async throws {
        let count = 4 << 20
        let bytes = Gzip.deflatedZeros(count: count)
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nTransfer-Encoding: chunked\r\n\r\n"
        let coded = Array((head + String(bytes.count, radix: 16) + "\r\n").utf8) + bytes
        let end = Array((hasTrailers ? "\r\n0\r\nA: b\r\n\r\n" : "\r\n0\r\n\r\n").utf8)
        let server = try RawServer { _ in [.send(coded + end)] }
        try await withTransport(configured: { $0.expansionLimit = 10_000 }) { transport in
            let pauses = Board(0)
            let recording = Recording(transport.send(try .to(server.baseURL))) { event, subscription in
                guard case .chunk(let piece) = event else { return }
                #expect(piece.count <= 64 << 10)
                subscription.pause()
                pauses.update { $0 += 1 }
            }
            _ = try await pauses.until { $0 == 1 ? true : nil }
            for _ in 0..<20 { await transport.loop.poll() }
            #expect(recording.log.chunks == 1)
            for round in 2...8 {
                recording.resume()
                _ = try await pauses.until { $0 == round ? true : nil }
            }
            recording.stopReacting()
            recording.resume()
            let log = try await recording.ended()
            #expect(log.error == nil)
            #expect(log.kinds.suffix(2) == [hasTrailers ? "trailers" : "chunk", "finished"])
            #expect(log.body.count == 1 + (count - 1) / 258 * 258)
            #expect(log.metrics?.bodyBytesDecoded == log.body.count)
            #expect(log.body.allSatisfy { $0 == 0 })
        }
    }
}
