import HTTPTypes
import RxHTTP
import TestServers
import Testing

@testable import RxCurl

/// HTTP/2 bodies without a length that end in another way than by END_STREAM are not complete.
@Suite(.timeLimit(.minutes(1))) struct HTTP2CutTests {
    /// The frame after the first part of the body. All but the first are errors of the whole connection.
    enum Cut: String, CaseIterable {
        case resetWithoutError, padding, oversized, idleReset

        var frame: [UInt8] {
            switch self {
            case .resetWithoutError: Frame.reset(0)
            // RFC 9113 §6.1: nine bytes of padding in a frame of four.
            case .padding: Frame.frame(0, flags: 8, [9, 1, 2, 3], stream: 1)
            // §4.2: more than the default of SETTINGS_MAX_FRAME_SIZE.
            case .oversized: Frame.frame(0, Array(repeating: 7, count: 20_000), stream: 1)
            // §5.1 and §6.4.
            case .idleReset: Frame.reset(0, stream: 21)
            }
        }
    }

    enum End: CaseIterable { case stays, closes }

    private func receive(_ pieces: [[UInt8]], then end: RawServer.Step) async throws -> Recording.Log {
        let gates = try pieces.dropFirst().map { _ in try Gate() }
        var script: [RawServer.Step] = [.send(Frame.settings + Frame.acknowledged), .readStream]
        for (index, piece) in pieces.enumerated() {
            if index > 0 { script.append(.wait(gates[index - 1])) }
            script.append(.send(piece))
        }
        let server = try RawServer([script + [end]])
        return try await withTransport(configured: { $0.httpVersion = .http2PriorKnowledge }) { transport in
            var request = try Request.to(server.baseURL)
            // It fails at once, not when curl happens to look again.
            request.timeouts.idle = .seconds(10)
            let recording = Recording(transport.send(request))
            for gate in gates {
                _ = try await recording.until { $0.body.isEmpty ? nil : true }
                gate.open()
            }
            return try await recording.ended()
        }
    }

    @Test(arguments: Cut.allCases, End.allCases)
    func aBodyThatIsCut(cut: Cut, end: End) async throws {
        // Nothing shows it before 8.4 (``LibcurlFault/trustsResetHTTP2Bodies``).
        if cut == .resetWithoutError, LibcurlFeatures.running.has(.endsHTTP2BodiesEarly) { return }
        let part = Frame.head() + Frame.data("half", endsStream: false)
        let step = end == .stays ? RawServer.Step.waitForClientClose : .close
        for pieces in [[part + cut.frame], [part, cut.frame]] {
            let log = try await receive(pieces, then: step)
            #expect([.partialBody, .connectionLost].contains(log.error?.code))
            #expect(log.error?.status?.code == 200)
            #expect(log.body == Array("half".utf8))
            #expect(log.metrics == nil)
        }
    }

    /// A reset immediately after the head.
    @Test(.enabled(if: !LibcurlFeatures.running.has(.endsHTTP2BodiesEarly)))
    func aBodyThatDoesNotBegin() async throws {
        let log = try await receive([Frame.head() + Frame.reset(0)], then: .waitForClientClose)
        #expect(log.error?.code == .partialBody)
    }

    /// All the ways in which a body without a length is complete.
    @Test(arguments: [
        Frame.data("whole", endsStream: true),
        Frame.data("whole", endsStream: false) + Frame.data("", endsStream: true),
        Frame.data("whole", endsStream: false) + Frame.trailers(),
        Frame.data("whole", endsStream: true) + Frame.goAway(last: 1, 0),
        Frame.goAway(last: 1, 0) + Frame.data("whole", endsStream: true),
        Frame.data("whole", endsStream: true) + Frame.reset(0),
    ])
    func aBodyThatIsWhole(frames: [UInt8]) async throws {
        for end in [RawServer.Step.waitForClientClose, .close] {
            let log = try await receive([Frame.head() + frames], then: end)
            #expect(log.error == nil)
            #expect(log.body == Array("whole".utf8))
        }
        let empty = try await receive([Frame.head(endsStream: true)], then: .waitForClientClose)
        #expect(empty.error == nil)
        #expect(empty.body.isEmpty)
    }

    /// The handle of a body without a length is used for the next request, whose connection is not kept.
    @Test(.enabled(if: LibcurlFeatures.running.has(.endsHTTP2BodiesEarly)))
    func theConnectionAfterABodyIsClosed() async throws {
        let opening: [RawServer.Step] = [.send(Frame.settings + Frame.acknowledged), .readStream]
        let body = Frame.head() + Frame.data("whole", endsStream: true)
        let server = try RawServer([
            opening + [.send(body), .waitForClientClose],
            opening + [.send(Frame.head(endsStream: true)), .waitForClientClose],
        ])
        try await withTransport(configured: { $0.httpVersion = .http2PriorKnowledge }) { transport in
            #expect(try await transport.get(server.baseURL).text == "whole")
            let request = try Request.to(server.baseURL, method: .head)
            let log = try await Recording(transport.send(request)).ended()
            #expect(log.error == nil)
            _ = try await server.connectionEnded(1)
        }
    }

    /// Two responses on one connection, of which one is cut: curl reads the frames of both for either.
    @Test(.enabled(if: !LibcurlFeatures.running.has(.breaksReusedPlainHTTP2)), arguments: [1, 3] as [UInt8])
    func onlyTheOneThatIsCut(stream: UInt8) async throws {
        let other: UInt8 = stream == 1 ? 3 : 1
        let first = Frame.head(stream: 1) + Frame.data("half", endsStream: false, stream: 1)
        let second = Frame.head(stream: 3) + Frame.data("half", endsStream: false, stream: 3)
        let gates = try [Gate(), Gate()]
        let server = try RawServer([
            [
                .send(Frame.settings + Frame.acknowledged), .readStream, .send(first), .readStream,
                .send(second),
                .wait(gates[0]),
                .send(Frame.reset(0, stream: stream) + Frame.data("more", endsStream: true, stream: other)),
                .waitForClientClose,
            ]
        ])
        try await withTransport(configured: { $0.httpVersion = .http2PriorKnowledge }) { transport in
            var recordings: [Recording] = []
            for path in ["/1", "/2"] {
                let recording = Recording(transport.send(try .to(server.baseURL + path)))
                _ = try await recording.until { $0.body.count == 4 ? true : nil }
                recordings.append(recording)
            }
            gates[0].open()
            let logs = [try await recordings[0].ended(), try await recordings[1].ended()]
            #expect(logs[stream == 1 ? 0 : 1].error?.code == .partialBody)
            #expect(logs[stream == 1 ? 1 : 0].error == nil)
            #expect(logs[stream == 1 ? 1 : 0].body == Array("halfmore".utf8))
        }
    }

    @Test(
        arguments: [
            ("Using Stream ID: 7 (easy handle 0x55d9)\n", .stream(7)),
            ("[HTTP/2] [7] OPENED stream for http://a/\n", .stream(7)),
            ("[HTTP/2] [7] DATA, window=6/20905984\n", .stream(7)),
            ("[HTTP/2] [7] RESET: REFUSED_STREAM (err 7)\n", .refused),
            ("[HTTP/2] [7] RESET: CANCEL (err 8)\n", nil),
            ("[HTTP/2] [7] [:path: /] RESET: REFUSED_STREAM ]\n", nil),
            ("recveived GOAWAY, error=0, last_stream=5\n", .goneAway(last: 5)),
            ("received GOAWAY, error=2, last_stream=5\n", .goneAway(last: 5)),
            ("received GOAWAY, error=2, last_stream=99999999999\n", nil),
            ("[HTTP/2] [7] <- FRAME[RST_STREAM, len=4, flags=0, error=0]\n", .resetWithoutError(7)),
            ("[HTTP/2] [7] <- FRAME[RST_STREAM, len=4, flags=0, error=8]\n", nil),
            ("[HTTP/2] [7] -> FRAME[RST_STREAM, len=4, flags=0, error=0]\n", nil),
            ("[HTTP/2] [7] <- FRAME[DATA, len=6, eos=1, padlen=0]\n", .ended(7)),
            ("[HTTP/2] [7] <- FRAME[DATA, len=6, eos=0, padlen=0]\n", nil),
            ("[HTTP/2] [7] <- FRAME[HEADERS, len=6, hend=1, eos=1]\n", .ended(7)),
            ("Downgrades to HTTP/1.1\n", .downgrades), ("Closing connection 0\n", .closes),
            ("[HTTP/2] [", nil), ("", nil),
        ] as [(String, HTTP2Notice?)])
    func notices(text: String, notice: HTTP2Notice?) {
        let read = unsafe Array(text.utf8).withUnsafeBytes { unsafe HTTP2Notice($0) }
        #expect(read == notice)
    }
}
