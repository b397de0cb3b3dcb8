import Foundation
import RxHTTP
import RxSimulation
import RxTesting
import Testing

@Suite struct CassettePlaceholderTests {
    /// Placeholders are numbered as the requests are, even while these run.
    @Test func numbersOfRunningRequests() throws {
        let shop = RecordedShop([.when(nil, "*")])
        let recorders = try (1...20).map { number in
            let url = try #require(URL(string: "https://shop.test/?token=t\(number)"))
            return Recorder(shop.recording.send(Request(url: url)), on: shop.clock)
        }
        #expect(
            shop.recording.cassette.exchanges.map(\.url)
                == (1...20).map { "https://shop.test/?token=secret-\($0)" })
        for recorder in recorders { recorder.cancel() }
    }

    /// A recording after another one uses new placeholders, and the address of a server can be replaced.
    @Test func laterRecordings() throws {
        let former = Cassette([Cassette.Exchange(url: "https://shop.test/?token=secret-7")])
        let shop = RecordedShop(
            [.when(nil, "*", .json(#"{"next": "http://127.0.0.1:4711/b"}"#))], after: former,
            replacing: ["http://127.0.0.1:4711": "https://shop.test"])
        let request = Request(url: try #require(URL(string: "http://127.0.0.1:4711/a?token=t")))
        _ = try RecordedShop.events(of: request, by: shop.recording, on: shop.clock)
        let cassette = try shop.cassette()
        #expect(
            cassette.exchanges.map(\.url) == [
                "https://shop.test/?token=secret-7", "https://shop.test/a?token=secret-8",
            ])
        #expect(
            String(decoding: cassette.exchanges[1].content, as: UTF8.self).contains("https://shop.test/b"))
    }
}
