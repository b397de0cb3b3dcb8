import CMallocCount
import Foundation

// Sends COUNT events through each case whose name contains TEXT, ROUNDS times, with RxLite and the peer in
// turns; with 0 rounds only RxLite, once, for a profiler. Prints a JSON object for each case to stdout and a
// table to stderr.

let usage = "usage: StreamsBenchmark [COUNT [ROUNDS [TEXT]]]"
let arguments = CommandLine.arguments.dropFirst()
guard arguments.count <= 3, let count = arguments.first.map({ Int($0) }) ?? 1_000_000, count >= 10,
    let rounds = arguments.dropFirst().first.map({ Int($0) }) ?? 7, rounds >= 0
else {
    FileHandle.standardError.write(Data("\(usage)\n".utf8))
    exit(2)
}
let text = arguments.dropFirst(2).first ?? ""

struct Result: Encodable {
    let `case`: String
    let unit = "ns/event"
    let ours: Double
    let peer: String
    let theirs: Double
    let ratio: Double
    let mallocs: Double
}

struct WrongSum: Error, CustomStringConvertible {
    let description: String
}

/// The CPU time of all threads in ns, to which other programs on the machine do not add.
func processorTime() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
}

func rounded(_ value: Double, _ digits: Int) -> Double {
    let factor = pow(10, Double(digits))
    return (value * factor).rounded() / factor
}

func padded(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
}

func note(_ line: String) {
    FileHandle.standardError.write(Data("\(line)\n".utf8))
}

nonisolated func measure(_ work: Case.Work, _ count: Int) async -> (time: Double, sum: Int) {
    let start = processorTime()
    let sum = await work(count)
    return ((processorTime() - start) / Double(count), sum)
}

nonisolated func result(of item: Case, _ count: Int, rounds: Int) async throws -> Result {
    // The first run is a warm-up; the allocations are counted in a run that is not timed.
    let expected = await measure(item.theirs, count).sum
    _ = await measure(item.ours, count)
    malloc_count_start()
    let sum = await item.ours(count)
    let mallocs = Double(malloc_count_stop()) / Double(count)
    guard sum == expected else { throw WrongSum(description: "\(item.name): \(sum), not \(expected)") }

    var ours: [Double] = []
    var theirs: [Double] = []
    for _ in 0..<rounds {
        let one = await measure(item.ours, count)
        let other = await measure(item.theirs, count)
        guard one.sum == expected, other.sum == expected else {
            throw WrongSum(description: "\(item.name): \(one.sum) and \(other.sum), not \(expected)")
        }
        ours.append(one.time)
        theirs.append(other.time)
    }
    return Result(
        case: item.name, ours: rounded(median(ours), 2), peer: item.peer, theirs: rounded(median(theirs), 2),
        ratio: rounded(median(theirs) / median(ours), 2), mallocs: rounded(mallocs, 3))
}

let encoder = JSONEncoder()
encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
note(
    padded("case", 38) + padded("ns", 9) + padded("peer's", 9) + padded("ratio", 8) + padded("mallocs", 9)
        + "  peer")
for item in Case.chains + Case.combinations + Case.sharing + Case.hops
where text.isEmpty || item.name.contains(text) {
    let count = max(1, Int(Double(count) * item.share))
    guard rounds > 0 else {
        let (time, sum) = await measure(item.ours, count)
        note("\(item.name): \(rounded(time, 1)) ns, sum \(sum)")
        continue
    }
    let result = try await result(of: item, count, rounds: rounds)
    print(String(decoding: try encoder.encode(result), as: UTF8.self))
    fflush(nil)
    note(
        padded(result.case, 38) + padded("\(rounded(result.ours, 1))", 9)
            + padded("\(rounded(result.theirs, 1))", 9) + padded("\(result.ratio)", 8)
            + padded("\(result.mallocs)", 9) + "  \(result.peer)")
}
