import Foundation
import HTTPCases
import HTTPTypes
import RxAuth
import RxNetworking
import RxTesting

// The processor time that a signature of AWS adds to a request of 1 KiB: the signature alone, and through a whole client in virtual
// time, in turns with the same requests without one.

// `signed`, `unsigned` or `alone` runs only that, for a profiler.

let count = 10_000
let limit = 25.0
let content = [UInt8](repeating: UInt8(ascii: "x"), count: 1024)

func signer() -> AWSSigner {
    .aws(
        service: "dynamodb", region: "eu-west-1",
        credentials: .keys(id: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"))
}

/// The microseconds of processor time that each of the requests takes, so that other work on the machine hardly matters.
func microseconds(_ run: () throws -> Void) rethrows -> Double {
    let start = Usage().cpuSeconds
    try run()
    return (Usage().cpuSeconds - start) / Double(count) * 1e6
}

/// Sends requests through a whole client, 64 at a time in virtual time.
///
/// - Returns: the requests that were sent.
func send(signedBy signer: AWSSigner?) throws -> [Request] {
    let clock = VirtualScheduler(stepLimit: .max)
    let transport = ScriptedTransport(on: clock, [.when(.post, "/*", .json("1", after: .milliseconds(20)))])
    var configuration = ClientConfiguration(baseURL: "https://dynamodb.eu-west-1.amazonaws.com")
    configuration.signer = signer
    let client = Client(configuration: configuration, transport: transport)
    let responses = Observable<Int, NetworkError>.sequence(0..<count)
        .flatMap(.merge(limit: 64)) { client.post("/table/\($0)", .body(.bytes(content))) }
    let recorder = Recorder(responses, on: clock)
    try clock.run()
    guard recorder.values.count == count else {
        // A wrong run is no measurement.
        fatalError("\(recorder.values.count) of \(count): \(String(describing: recorder.failure))")
    }
    return transport.requests
}

/// The microseconds that each of the requests takes.
func microseconds(signedBy signer: AWSSigner?) throws -> Double {
    var requests: [Request] = []
    let time = try microseconds { requests = try send(signedBy: signer) }
    guard requests.allSatisfy({ ($0.headerFields[.authorization] != nil) == (signer != nil) }) else {
        // A wrong run is no measurement.
        fatalError("requests without the signature, or with one")
    }
    return time
}

/// Signs the same request again and again.
func sign(by signer: AWSSigner) throws {
    let clock = VirtualScheduler()
    let context = SigningContext(
        date: Date(timeIntervalSince1970: 1_700_000_000), scheduler: clock,
        transport: ScriptedTransport(on: clock) { _ in .json("1") })
    guard let url = URL(string: "https://dynamodb.eu-west-1.amazonaws.com/table/7") else {
        // A constant URL.
        fatalError("no URL")
    }
    let request = Request(
        method: .post, url: url, headerFields: [.contentType: "application/octet-stream"],
        body: .bytes(content))
    for _ in 0..<count {
        let subscription = signer.sign(request, in: context).subscribe { _ in }
        subscription.cancel()
    }
}

switch CommandLine.arguments.dropFirst().first {
case "alone": exit(try microseconds { try sign(by: signer()) } > 0 ? 0 : 1)
case "signed": exit(try microseconds(signedBy: signer()) > 0 ? 0 : 1)
case "unsigned": exit(try microseconds(signedBy: nil) > 0 ? 0 : 1)
default: break
}
var rounds: [(alone: Double, signed: Double, unsigned: Double)] = []
for round in 0...7 {
    let signer = signer()
    let alone = try microseconds { try sign(by: signer) }
    let unsigned = try microseconds(signedBy: nil)
    let signed = try microseconds(signedBy: signer)
    // The first round fills the caches.
    if round > 0 { rounds.append((alone, signed, unsigned)) }
}
func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
let added = median(rounds.map { $0.signed - $0.unsigned })
for (name, value) in [
    ("signature alone", median(rounds.map(\.alone))), ("unsigned request", median(rounds.map(\.unsigned))),
    ("signed request", median(rounds.map(\.signed))), ("added by the signature", added),
] {
    print(#"{"case": "\#(name)", "microseconds": \#(String(format: "%.2f", value))}"#)
}
exit(added <= limit ? 0 : 1)
