#if DiskCache
// Works on the folder of a disk cache, for tests that kill it or start several instances.
//
//   disk-cache-probe fill FOLDER SEED          stores until it is killed; prints `stored KEY NUMBER` for each
//   disk-cache-probe storm FOLDER SEED COUNT   runs a number of random operations
//   disk-cache-probe use FOLDER                stores until a store fails, then looks up all entries
//   disk-cache-probe record FILE               replaces the cassette in the file by another one
//
// Storm and use print a line of numbers at their end, and exit with 1 if an entry differs from the stored one.

import FoundationEssentials
import HTTPTypes
import RxCache
import RxDiskCache
import RxHTTP
import RxLite
import RxSimulation
import RxTesting

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Not with print, which buffers lines.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    unsafe _ = write(1, bytes, bytes.count)
}

func fill(_ store: DiskCacheStore, _ random: SeededRandom) async throws {
    var random = random
    for number in 0... {
        let key = Int.random(in: 0..<SampleEntry.keyCount, using: &random)
        let size = Int.random(in: 0..<60_000, using: &random)
        _ = try await store.store(SampleEntry.make(key: key, number: number, size: size)).value()
        say("stored \(key) \(number)")
    }
}

func storm(_ store: DiskCacheStore, _ random: SeededRandom, _ count: Int) async -> Bool {
    var storm = Storm(store: store, random: random)
    for number in 0..<count { await storm.step(number) }
    let all = store.statistics
    say(
        """
        wrong \(storm.wrong) found \(storm.found) broken \(all.brokenEntries + all.brokenDatabases) \
        lookups \(all.failedLookups) failed \(all.failedChanges) busy \(all.busy) \
        \(all.lastFailure.map { "\($0)" } ?? "")
        """)
    return storm.wrong == 0
}

func use(_ store: DiskCacheStore) async throws -> Bool {
    var (stored, found, wrong) = (0, 0, 0)
    for key in 0..<SampleEntry.keyCount {
        let entry = SampleEntry.make(key: key, number: 0, size: 50_000)
        guard (try? await store.store(entry).value()) != nil else { break }
        stored += 1
    }
    for key in 0..<SampleEntry.keyCount {
        for entry in try await store.entries(for: SampleEntry.key(key)).value() {
            found += 1
            if !SampleEntry.isWhole(entry) { wrong += 1 }
        }
    }
    let all = store.statistics
    say("stored \(stored) found \(found) failed \(all.failedChanges) lookups \(all.failedLookups)")
    return wrong == 0
}

func record(_ file: String) throws {
    var random = SeededRandom(7)
    let content = (0..<20_000).map { _ in UInt8.random(in: 32..<127, using: &random) }
    let head = Cassette.Event(.zero, .head(ResponseHead(status: .ok)))
    try Cassette([
        Cassette.Exchange(
            url: "https://new.test/", events: [head, Cassette.Event(.zero, .chunk(content))])
    ]).write(to: file)
}

let arguments = CommandLine.arguments.dropFirst()
guard let command = arguments.first, let folder = arguments.dropFirst().first else { exit(2) }
if command == "record" {
    try record(folder)
    exit(0)
}
let random = SeededRandom(arguments.dropFirst(2).first.flatMap { UInt64($0) } ?? 1)
let count = arguments.dropFirst(3).first.flatMap { Int($0) } ?? 0
let store = DiskCacheStore(folder: folder)
switch command {
case "fill": try await fill(store, random)
case "storm": exit(await storm(store, random, count) ? 0 : 1)
case "use": exit(try await use(store) ? 0 : 1)
default: exit(2)
}
#endif
