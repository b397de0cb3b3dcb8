import Foundation
import RxNetworking
import Synchronization

// Cancels each of COUNT transfers, 64 at a time, when the first bytes of a large body have arrived. After
// each of five rounds it prints the resources that the process still holds: open descriptors and resident
// memory.

guard let url = CommandLine.arguments.dropFirst().first.flatMap(URL.init),
    let count = CommandLine.arguments.dropFirst(2).first.flatMap({ Int($0) }), count > 0
else {
    print("usage: CancelBenchmark URL COUNT")
    exit(2)
}

let loop = EventLoop(name: "cancel")
let transport = CurlTransport(loop: loop)
let rounds = 5

func openDescriptors() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
}

func residentKiB() throws -> Int {
    let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * 4
}

for round in 1...rounds {
    let cancelled = Atomic<Int>(0)
    let completion = await withCheckedContinuation { continuation in
        Observable<Int, NetworkError>.sequence(0..<(count / rounds))
            .flatMap(.merge(limit: 64)) { _ in
                transport.send(Request(url: url))
                    .filter { event throws(NetworkError) in
                        if case .head(let head) = event, head.status.kind != .successful {
                            throw NetworkError(.status, "the server answers \(head.status)")
                        }
                        if case .chunk = event { return true } else { return false }
                    }
                    .take(1)
            }
            .subscribe(
                onNext: { _ in cancelled.add(1, ordering: .relaxed) },
                onEnd: { continuation.resume(returning: $0) })
    }
    if case .failed(let error) = completion {
        print(error)
        exit(1)
    }
    print(
        """
        {"case":"cancel","round":\(round),"cancelled":\(cancelled.load(ordering: .relaxed)),\
        "descriptors":\(try openDescriptors()),"resident_kib":\(try residentKiB())}
        """)
}
loop.shutDown()
print("{\"case\":\"cancel\",\"after\":\"shutdown\",\"descriptors\":\(try openDescriptors())}")
