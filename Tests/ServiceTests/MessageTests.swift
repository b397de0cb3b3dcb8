import RxNetworking
import TestServers
import Testing

/// Error messages in the formats of server frameworks.
@Suite(.enabled(if: Service.programs != nil), .timeLimit(.minutes(2))) struct MessageTests {
    private func message(_ response: Observable<Response, NetworkError>) async throws -> String? {
        let error = await #expect(throws: NetworkError.self) { try await response.value() }
        return error?.message
    }

    /// Django REST framework names the fields, or gives the detail.
    @Test func django() async throws {
        let folder = try TemporaryFolder()
        let shop = try await Service.shop(in: folder)
        let client = Client(baseURL: shop.baseURL)
        let fields = try await message(client.post("/goods/numbered/", .json(["name": "", "price": 0])))
        #expect(fields?.contains("may not be blank") == true)
        #expect(fields?.contains("greater than or equal to 1") == true)
        let detail = try await message(client.get("/goods/numbered/", query: ["page": 9999]))
        #expect(detail?.contains("Invalid page.") == true)
    }

    /// FastAPI lists the errors of the body.
    @Test func fastAPI() async throws {
        let live = try await Service.live()
        let orders = Client(baseURL: live.baseURL).post("/orders", .json(["name": "tea", "count": 0]))
        #expect(try await message(orders)?.contains("greater than 0") == true)
    }
}
