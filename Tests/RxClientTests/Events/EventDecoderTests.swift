import FoundationEssentials
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Testing

/// Events as typed values, by their names.
@Suite struct EventDecoderTests {
    private struct Delta: Decodable, Equatable { var outputText: String }
    private enum Piece: Equatable {
        case delta(Delta)
        case usage([String: Int])
        case ping(String)
    }

    private let clock = VirtualScheduler()

    private func updates(_ text: String) -> Observable<EventSourceUpdate, NetworkError> {
        let transport = ScriptedTransport(on: clock) { _ in EventSourceFixture.answer(text, then: .stall) }
        let configuration = ClientConfiguration(baseURL: "http://shop.test")
        configuration.decoder.keyDecodingStrategy = .convertFromSnakeCase
        return Client(configuration: configuration, transport: transport).events(.get("/"))
    }

    private func played<T>(_ stream: Observable<T, NetworkError>) throws -> Recorder<T, NetworkError> {
        let recorder = Recorder(stream, on: clock)
        try clock.advance(by: .seconds(9))
        recorder.cancel()
        return recorder
    }

    private let text = """
        event: delta
        data: {"output_text":
        data: "Hot"}

        : comment
        event: ping
        data: 17

        event: usage
        data: {"tokens": 3}

        data: {"output_text": "bare"}


        """

    @Test func oneTypeByName() throws {
        let named = try played(updates(text).messages(of: Delta.self, named: "delta"))
        #expect(named.values == [Delta(outputText: "Hot")])
        let bare = try played(updates(text).messages(of: Delta.self, named: "message"))
        #expect(bare.values == [Delta(outputText: "bare")])
    }

    @Test func aTableOfNames() throws {
        let pieces = try played(
            updates(text).messages(by: [
                "delta": .json(Piece.delta), "usage": .json(Piece.usage), "ping": .event { .ping($0.data) },
            ]))
        #expect(pieces.values == [.delta(Delta(outputText: "Hot")), .ping("17"), .usage(["tokens": 3])])
        let others = try played(
            updates(text).messages(
                by: ["delta": .event { $0.type }], others: .event { $0.data }))
        #expect(others.values == ["delta", "17", #"{"tokens": 3}"#, #"{"output_text": "bare"}"#])
    }

    @Test func dataThatDoesNotFitIsTheBodyOfTheError() throws {
        let recorder = try played(
            updates(
                "event: delta\ndata: {\"output_text\":\"a\"}\n\nevent: delta\ndata: {\"output_text\":7}\n\n"
            )
            .messages(of: Delta.self, named: "delta"))
        #expect(recorder.values == [Delta(outputText: "a")])
        let error = try #require(recorder.failure)
        #expect(error.code == .decoding)
        #expect(error.codingPath == "outputText")
        #expect(error.body == Array(#"{"output_text":7}"#.utf8))
        #expect(error.message.hasPrefix(#"the event "delta", at outputText: "#))
    }

    @Test func withoutANameEveryEventIsDecoded() throws {
        let recorder = try played(updates(text).messages(of: Delta.self))
        #expect(recorder.values == [Delta(outputText: "Hot")])
        #expect(recorder.failure?.body == Array("17".utf8))
    }

    @Test func aDecoderCanBeGiven() throws {
        let recorder = try played(
            updates(text).messages(of: Delta.self, named: "delta", decoder: JSONDecoder()))
        #expect(recorder.failure?.code == .decoding)
    }
}
