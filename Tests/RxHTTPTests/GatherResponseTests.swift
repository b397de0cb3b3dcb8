import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Testing

@Suite struct GatherResponseTests {
    private let clock = VirtualScheduler()

    private func gather(
        _ answer: ScriptedTransport.Reply, limit: Int = 10
    ) throws -> (Recorder<Response, NetworkError>, ScriptedTransport) {
        let transport = ScriptedTransport(on: clock) { _ in answer }
        let request = Request(url: try #require(URL(string: "http://a.test/")), bodyLimit: limit)
        let recorder = Recorder(transport.send(request).response(to: request), on: clock)
        try clock.run()
        return (recorder, transport)
    }

    private func chunks(_ counts: Int...) -> ScriptedTransport.Reply {
        ScriptedTransport.Reply(
            [.head(ResponseHead(status: .ok))] + counts.map { .chunk(Array(repeating: 9, count: $0)) }
                + [.finish])
    }

    /// The chunks become one response, once.
    @Test func gathers() throws {
        let (recorder, _) = try gather(
            .steps(
                .uploaded(bytes: 1, of: 1), .head(ResponseHead(status: .created)), .chunk([1]), .chunk([]),
                .chunk([2, 3]), .finish))
        #expect(recorder.values.map(\.body) == [[1, 2, 3]])
        #expect(recorder.values.map(\.status) == [.created])
        #expect(recorder.isFinished)
    }

    /// Informational responses of the last hop and trailers are kept.
    @Test func interimAndTrailers() throws {
        let field = try #require(HTTPField.Name("x-sum"))
        let (recorder, _) = try gather(
            .steps(
                .interim(ResponseHead(status: .init(code: 103))), .interim(ResponseHead(status: .continue)),
                .head(ResponseHead(status: .ok)), .chunk([1]), .trailers([field: "7"]), .finish))
        #expect(recorder.values.map { $0.interim.map(\.status.code) } == [[103, 100]])
        #expect(recorder.values.map { $0.trailers[field] } == ["7"])
        let (plain, _) = try gather(chunks(1))
        #expect(plain.values.map(\.interim.count) == [0])
        #expect(plain.values.map(\.trailers.count) == [0])
    }

    /// A body of exactly the limit is accepted; a byte more fails and stops the transfer.
    @Test func limit() throws {
        #expect(try gather(chunks(4, 6)).0.values.map(\.body.count) == [10])
        #expect(try gather(chunks(), limit: 0).0.values.map(\.body.count) == [0])
        for answer in [chunks(4, 7), chunks(11), chunks(10, 1)] {
            let (recorder, transport) = try gather(answer)
            #expect(recorder.values.isEmpty)
            #expect(recorder.failure?.code == .tooLarge)
            #expect(recorder.failure?.status == .ok)
            #expect(transport.exchanges.map(\.outcome) == [.cancelled])
        }
    }

    /// A failure after the head fails the stream, without a response.
    @Test func failure() throws {
        let (recorder, _) = try gather(
            .steps(.head(ResponseHead(status: .ok)), .chunk([1]), .fail(NetworkError(.partialBody, "cut"))))
        #expect(recorder.values.isEmpty)
        #expect(recorder.failure?.code == .partialBody)
    }

    /// A transfer that finishes without a complete response is a failure.
    @Test func incomplete() throws {
        let request = Request(url: try #require(URL(string: "http://a.test/")))
        let events: [[TransferEvent]] = [
            [], [.finished(TransferMetrics())], [.head(ResponseHead(status: .ok)), .chunk([1])],
        ]
        for events in events {
            let recorder = Recorder(
                Observable<TransferEvent, NetworkError>.sequence(events).response(to: request), on: clock)
            try clock.run()
            #expect(recorder.values.isEmpty)
            #expect(recorder.failure?.code == .partialBody)
            #expect(recorder.failure?.requestID == request.id)
        }
    }
}
