#if Fleet
import RxFleet
import RxNetworking

func shareAFleet(_ store: any SharedStore, _ keys: SealingKeys) {
    var configuration = ClientConfiguration(baseURL: "https://api.example.com/v1")

    let fleet = Fleet(sharing: store, as: "worker 3")
    let session = Session(sharing: fleet.credential("shop", sealing: keys), login: { logIn() })
    configuration.session = session
    configuration.hostLimits = RequestLimits(rate: .perSecond(100, burst: 20)).shared(through: fleet.quota)
    configuration.circuitBreaker = CircuitBreaker.Policy().shared(through: fleet.circuits)
    configuration.cache = ResponseCache(store: TieredCacheStore(over: fleet.cache(sealing: keys)))
    fleet.join()

    fleet.members.observable.subscribe { members in print(members.map(\.name)) }
    fleet.events.subscribe { event in
        if case .degraded(let error) = event { print("without the store:", error) }
    }
    show(configuration)
}

func shareARedis() throws {
    let store = try RedisStore("rediss://worker:secret@redis.internal:6379")
    let fleet = Fleet(sharing: store, as: "worker 3")
    show(fleet)
}

func shareALogin(_ store: any SharedStore, _ key: [UInt8]) throws {
    let keys = SealingKeys(try SealingKey(id: "2026-11", bytes: key))
    let credential = SharedCredential(in: store, key: "shop", sealing: keys)
    let session = Session(
        sharing: credential, renewal: { current in renew(current) }, login: { logIn() })
    show(session)
}

func shareALimit(_ store: any SharedStore) {
    let quota = FleetQuota(in: store, memberCount: { 8 })
    let limits = RequestLimits(rate: .perSecond(100, burst: 20)).shared(through: quota, scope: "vendor key")
    show(limits)
}

func shareACache(_ store: any SharedStore, _ keys: SealingKeys) {
    let shared = SharedCacheStore(in: store, sealing: keys)
    let cache = ResponseCache(store: TieredCacheStore(over: shared))
    show(cache)
}

func shareCircuits(_ store: any SharedStore) {
    var configuration = ClientConfiguration(baseURL: "https://api.example.com/v1")
    let circuits = FleetCircuits(in: store)
    configuration.circuitBreaker = CircuitBreaker.Policy().shared(through: circuits)
    show(configuration)
}

func shareAFolder() {
    let store = FileStore(folder: "/var/lib/shop/fleet")
    let fleet = Fleet(sharing: store, as: "worker 3")
    show(fleet)
}

private func logIn() -> Observable<Credential, NetworkError> { .just(Credential(token: "a")) }
private func renew(_ credential: Credential) -> Observable<Credential, NetworkError> { .just(credential) }
#endif
