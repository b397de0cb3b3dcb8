// The costs of a fleet over Redis, as JSON.
//
//   FleetBenchmark gets PORT COUNT DEPTH      keeps DEPTH reads of a RedisStore in flight on one connection
//   FleetBenchmark fill PORT                  writes the entries that are read
//   FleetBenchmark commands PORT COUNT URL    commands for requests with a current credential, and for permits under load

import Foundation
import RxFleet
import RxLoop
import RxNetworking

let arguments = CommandLine.arguments
guard arguments.count >= 3, let port = UInt16(arguments[2]) else { exit(2) }
let store = try RedisStore("redis://127.0.0.1:\(port)")
let keys = (0..<64).map { "key:\($0)" }

func cpu() -> Double {
    var usage = rusage()
    unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// A login whose credential the server never refuses.
func session(over store: RedisStore) throws -> Session {
    let sealing = SealingKeys(try SealingKey(id: "1", bytes: Array(repeating: 1, count: 32)))
    return Session(
        sharing: SharedCredential(in: store, key: "shop", sealing: sealing),
        login: { .just(Credential(token: "t", refreshToken: "r")) })
}

let clock = ContinuousClock()
switch arguments[1] {
case "fill":
    for key in keys {
        _ = try await store.swap(
            key, to: Array(repeating: 7, count: 84), expecting: .any, under: nil, for: nil
        ).value()
    }
case "gets":
    guard arguments.count == 5, let count = Int(arguments[3]), let depth = Int(arguments[4]) else { exit(2) }
    let (start, used) = (clock.now, cpu())
    let reads = Observable<Int, NetworkError>.sequence(0..<count)
        .flatMap(.merge(limit: depth)) { store.read(keys[$0 % keys.count]) }
        // With those of the versions.
        .reduce(0) { $0 + ($1?.bytes.count ?? 0) + 16 }
        // On the loop of the connection, as in the C program.
        .subscribe(on: EventLoop.shared)
    let bytes = try await reads.value()
    let seconds = (clock.now - start) / .seconds(1)
    print(
        #"{"count": \#(count), "bytes": \#(bytes), "seconds": \#(seconds), "cpu_seconds": \#(cpu() - used)}"#
    )
case "commands":
    guard arguments.count == 5, let count = Int(arguments[3]) else { exit(2) }
    var configuration = ClientConfiguration(baseURL: arguments[4])
    configuration.options.retry = .never
    configuration.session = try session(over: store)
    let client = Client(configuration: configuration)
    // The first login.
    _ = try await client.get("/").value()
    var before = store.commandCount
    for _ in 0..<count { _ = try await client.get("/").value() }
    let credential = store.commandCount - before

    configuration.session = nil
    let quota = FleetQuota(in: store)
    configuration.hostLimits = RequestLimits(rate: .perSecond(500, burst: 20))
        .shared(through: quota, scope: "key")
    let limited = Client(configuration: configuration)
    before = store.commandCount
    let requests = Observable<Int, NetworkError>.sequence(Array(0..<count))
        .flatMap(.merge(limit: 16)) { _ in limited.get("/") }
    let start = clock.now
    _ = try await requests.collect().value()
    let seconds = (clock.now - start) / .seconds(1)
    print(
        #"{"requests": \#(count), "credential_commands": \#(credential), "permit_commands": \#(store.commandCount - before), "permit_seconds": \#(seconds)}"#
    )
default: exit(2)
}
