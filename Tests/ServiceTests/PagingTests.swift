import FoundationEssentials
import RxNetworking
import TestServers
import Testing

/// Lists of Django REST framework, which sends at most 50 items a page for any requested size, and of
/// datasette.
@Suite(.enabled(if: Service.programs != nil), .timeLimit(.minutes(2))) struct PagingTests {
    private struct Goods: Decodable, Sendable { let id: Int }

    private struct GoodsPage: Endpoint {
        struct Output: Decodable, Sendable {
            let count: Int?
            let next: String?
            let results: [Goods]
        }
        let path: String
        let method = HTTPRequest.Method.get
    }

    private struct Rows: Endpoint {
        struct Output: Decodable, Sendable {
            struct Row: Decodable, Sendable { let id: Int }
            let rows: [Row]
            let nextURL: String?

            enum CodingKeys: String, CodingKey {
                case rows
                case nextURL = "next_url"
            }
        }
        let path = "/rows/rows.json"
        let method = HTTPRequest.Method.get
        let parameters = Parameters.query(["_size": "max", "_shape": "objects"])
    }

    /// Pages by number, of the requested size or of the smaller one that the server allows.
    @Test(arguments: [20, 500])
    func numbered(size: Int) async throws {
        let folder = try TemporaryFolder()
        let shop = try await Service.shop(in: folder)
        let goods = Client(baseURL: shop.baseURL).items(
            GoodsPage(path: "/goods/numbered/"), .numbered(size: size, sizeKey: "page_size")
        ) { Page($0.results, total: $0.count) }
        #expect(try await goods.map(\.id).collect().value() == Array(1...1000))
    }

    /// Pages by offset, likewise.
    @Test(arguments: [20, 500])
    func offset(size: Int) async throws {
        let folder = try TemporaryFolder()
        let shop = try await Service.shop(in: folder)
        let goods = Client(baseURL: shop.baseURL).items(
            GoodsPage(path: "/goods/offset/"), .offset(size: size)
        ) { Page($0.results, total: $0.count) }
        #expect(try await goods.map(\.id).collect().value() == Array(1...1000))
    }

    /// Pages by the URL of the next one in the body: by number, by offset and by cursor.
    @Test(arguments: ["numbered", "offset", "cursor"])
    func nextURL(path: String) async throws {
        let folder = try TemporaryFolder()
        let shop = try await Service.shop(in: folder)
        let goods = Client(baseURL: shop.baseURL).items(
            GoodsPage(path: "/goods/\(path)/"), .nextURL
        ) { Page($0.results, nextCursor: $0.next) }
        #expect(try await goods.map(\.id).collect().value() == Array(1...1000))
    }

    /// 20,000 rows by Link header and by next_url.
    @Test func rows() async throws {
        let folder = try TemporaryFolder()
        let datasette = try await Service.datasette(in: folder)
        let client = Client(baseURL: datasette.baseURL)
        let byLink = client.items(Rows(), .link) { Page($0.rows) }
        #expect(try await byLink.map(\.id).collect().value() == Array(1...20_000))
        let byURL = client.items(Rows(), .nextURL) { Page($0.rows, nextCursor: $0.nextURL) }
        #expect(try await byURL.map(\.id).collect().value() == Array(1...20_000))
    }
}
