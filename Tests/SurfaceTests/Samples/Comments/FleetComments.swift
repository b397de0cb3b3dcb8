#if Fleet && Metrics && Outbox
import RxFleet
import RxMetrics
import RxNetworking
import RxOutbox

private func logIn() -> Observable<Credential, NetworkError> { .just(Credential(token: "a")) }
private func renew(_ credential: Credential) -> Observable<Credential, NetworkError> { .just(credential) }

private func sharedCredential(_ store: any SharedStore, _ keys: SealingKeys) {
    let credential = SharedCredential(in: store, key: "shop", sealing: keys)
    let session = Session(sharing: credential, renewal: { renew($0) }, login: { logIn() })
    show(session)
}

private func sharedSession(_ store: any SharedStore, _ keys: SealingKeys) {
    let session = Session(
        sharing: SharedCredential(in: store, key: "shop", sealing: keys), renewal: { renew($0) },
        login: { logIn() })
    show(session)
}

private func fileStore() {
    let store = FileStore(folder: "/var/lib/shop/fleet")
    let fleet = Fleet(sharing: store, as: "worker 3")
    show(fleet)
}

private func redisStore() throws {
    let store = try RedisStore("rediss://worker:secret@redis.internal:6379")
    let fleet = Fleet(sharing: store, as: "worker 3")
    show(fleet)
}

private func sealingKeys(_ key: [UInt8]) throws {
    let keys = try SealingKeys(SealingKey(id: "2026-11", bytes: key))
    show(keys)
}

private func fleetQuota(_ store: any SharedStore) {
    var configuration = ClientConfiguration()
    let quota = FleetQuota(in: store)
    configuration.hostLimits = RequestLimits(rate: .perSecond(100, burst: 20))
        .shared(through: quota, scope: "vendor key")
    show(configuration)
}

private func fleetCircuits(_ store: any SharedStore) {
    var configuration = ClientConfiguration()
    let circuits = FleetCircuits(in: store)
    configuration.circuitBreaker = CircuitBreaker.Policy(failureRatio: 0.5).shared(through: circuits)
    show(configuration)
}

private func sharedCacheStore(_ shared: any SharedStore, _ keys: SealingKeys) {
    var configuration = ClientConfiguration()
    let store = TieredCacheStore(over: SharedCacheStore(in: shared, sealing: keys))
    configuration.cache = ResponseCache(store: store)
    show(configuration)
}

private func sharedOutbox(_ client: Client) throws {
    let shared = FileStore(folder: "/var/lib/shop/fleet")
    let outbox = try Outbox(
        store: SharedOutboxStore(shared, name: "orders"), client: client, endpoints: [PlaceOrder.self])
    show(outbox)
}

private func fleetMetrics(_ fleet: Fleet) {
    fleet.recordMetrics()
}
#endif
