import RxNetworking

func asyncBridges(load: @escaping @Sendable () async throws -> [String]) async throws {
    let goods = Observable<[String], any Error>.async { try await load() }
    let first = try await goods.first()
    for try await names in goods.values(buffering: .suspend(high: 64, low: 16)) {
        print(names, first ?? [])
    }
}
