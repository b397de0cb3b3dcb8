import Foundation
import HTTPTypes
import RxNetworking
import RxSimulation
import RxTesting

struct Goods: Codable, Sendable { let id: Int, name: String }

/// The median of the seconds that `run` takes in seven rounds, after one that is not counted.
func median(of run: () throws -> Void) rethrows -> Double {
    let clock = ContinuousClock()
    _ = try clock.measure { try run() }
    var seconds: [Double] = []
    for _ in 0..<7 { seconds.append(try clock.measure { try run() } / .seconds(1)) }
    return seconds.sorted()[3]
}

/// Prints a measurement as JSON, and reports whether it is within its limit.
func report(_ name: String, _ seconds: Double, limit: Double) -> Bool {
    print(#"{"case": "\#(name)", "seconds": \#(String(format: "%.4f", seconds)), "limit": \#(limit)}"#)
    FileHandle.standardError.write(
        Data("\(name): \(String(format: "%.3f", seconds)) s, at most \(limit) s\n".utf8))
    return seconds <= limit
}

/// Sends all requests, 64 at a time in virtual time, and decodes the responses.
func send(_ paths: [String], through transport: any Transport, on clock: VirtualScheduler) throws {
    var configuration = ClientConfiguration(baseURL: "https://shop.test")
    configuration.session = Session(credential: Credential(token: "t"), clock: clock) {
        .fail(NetworkError(.status, ""))
    }
    configuration.options.retry = .exponentialBackoff()
    let client = Client(configuration: configuration, transport: transport)
    let goods = Observable<String, NetworkError>.sequence(paths)
        .flatMap(.merge(limit: 64)) { client.get($0).decode(Goods.self) }
    let recorder = Recorder(goods, on: clock)
    try clock.run()
    guard recorder.values.count == paths.count, recorder.isFinished else {
        // A wrong run is no measurement.
        fatalError("\(recorder.values.count) of \(paths.count): \(String(describing: recorder.failure))")
    }
}

let paths = (0..<10_000).map { "/goods/\($0)" }
let virtual = try median {
    let clock = VirtualScheduler(stepLimit: .max)
    let transport = ScriptedTransport(
        on: clock, [.when(.get, "/goods/*", .json(#"{"id":7,"name":"tea"}"#, after: .milliseconds(20)))])
    try send(paths, through: transport, on: clock)
}

let recordingClock = VirtualScheduler(stepLimit: .max)
let recording = RecordingTransport(
    ScriptedTransport(
        on: recordingClock,
        [.when(.get, "/goods/*", .json(#"{"id":7,"name":"tea"}"#, after: .milliseconds(20)))]))
let some = Array(paths.prefix(1000))
try send(some, through: recording, on: recordingClock)
let file = recording.cassette.encoded
let replay = try median {
    let cassette = try Cassette(bytes: file)
    let clock = VirtualScheduler(stepLimit: .max)
    let transport = ReplayTransport(cassette, on: clock)
    try send(some, through: transport, on: clock)
    try transport.verify()
}
let reading = try median { _ = try Cassette(bytes: file) }

let results = [
    report("10,000 requests through the client in virtual time", virtual, limit: 1),
    report("1,000 exchanges read and replayed through the client", replay, limit: 0.2),
    report("1,000 exchanges read, \(file.count) bytes", reading, limit: 0.2),
]
exit(results.allSatisfy { $0 } ? 0 : 1)
