// Many requests with faults mixed in by a seed, against a separate server process.
//
//   soak [count] [seed] [recorded]
//
// Defaults: 20000 1, not recorded. A table on stderr, a line of JSON on stdout, 1 if something is wrong.

import Foundation
import RxNetworking
import RxTesting

let arguments = CommandLine.arguments.dropFirst()
if arguments.first == "serve" {
    var server = try FaultServer()
    try FileHandle.standardOutput.write(contentsOf: Data("\(server.port)\n".utf8))
    try server.run()
    exit(0)
}

let count = arguments.first.flatMap { Int($0) } ?? 20_000
let seed = arguments.dropFirst().first.flatMap { UInt64($0) } ?? 1
let isRecorded = arguments.contains("recorded")
let slots = 64

let (life, port) = (Pipe(), Pipe())
let server = Process()
server.executableURL = URL(filePath: CommandLine.arguments[0])
server.arguments = ["serve"]
server.standardInput = life
server.standardOutput = port
try server.run()
let line = String(decoding: port.fileHandleForReading.availableData, as: UTF8.self)
guard let number = UInt16(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
    print("the server did not start")
    exit(1)
}

/// Sends the given number of requests over a separate transport and loop.
func run(_ count: Int) async -> Report {
    let loop = EventLoop(name: "soak")
    defer { loop.shutDown() }
    var configuration = CurlTransport.Configuration()
    configuration.proxy = .none
    let transport = CurlTransport(loop: loop, configuration: configuration)
    return await withCheckedContinuation { continuation in
        let done = Signal<Void>()
        let soak = Soak(
            count, seed: seed, baseURL: "http://127.0.0.1:\(number)", over: transport, isRecorded: isRecorded
        ) {
            done.send()
        }
        done.observable.take(1).subscribe(onNext: { continuation.resume(returning: soak.report) })
        soak.start(slots: slots)
    }
}

// Objects that a process creates once, and keeps, exist by then.
_ = await run(100)
let descriptors = Report.openDescriptors()
let start = ContinuousClock.now
var report = await run(count)
report.descriptorsBefore = descriptors
report.descriptorsAfter = Report.openDescriptors()
report.seconds = (ContinuousClock.now - start) / .seconds(1)
try life.fileHandleForWriting.close()
server.waitUntilExit()

func say(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
say(
    "\(report.sent) sent, \(report.succeeded) succeeded; seed \(seed), \(Int(Double(report.sent) / report.seconds)) a second"
)
for (outcome, count) in report.outcomes.sorted(by: { $0.value > $1.value }) { say("  \(outcome): \(count)") }
if let first = report.measures.first, let last = report.measures.last {
    say("  memory \(first.memory) KiB at \(first.sent), \(last.memory) KiB at \(last.sent)")
    let most = report.measures.map(\.descriptors).max() ?? 0
    say("  descriptors \(report.descriptorsBefore) before, at most \(most), \(report.descriptorsAfter) after")
}
for flaw in report.flaws { say("WRONG: \(flaw)") }
print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
exit(report.flaws.isEmpty ? 0 : 1)
