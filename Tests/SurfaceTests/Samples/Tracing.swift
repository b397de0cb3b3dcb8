#if Tracing
import RxNetworking
import RxTracing
import Tracing

func traceCalls(of client: Client, order: Int) async throws {
    client.traceCalls()

    let receipt = try await withSpan("checkout") { _ in
        try await client.post("/orders/{id}", at: ["id": order]).value()
    }
    print(receipt)
}
#endif
