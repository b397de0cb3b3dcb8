import Foundation

/// The requests, their outcomes and their cost, as one line of JSON.
struct Report: Codable, Sendable {
    /// The process at one moment.
    struct Measure: Codable, Sendable {
        var sent: Int
        /// Resident memory in KiB.
        var memory: Int
        var descriptors: Int
    }

    /// The permitted growth of resident memory from the first fifth to the second half, in KiB. Pages that
    /// the allocator has not returned yet stay well below; a leak of 20 bytes a request exceeds it in a run
    /// of a million, one of 1 KiB in a run of 20,000.
    static let memoryMargin = 16 << 10
    /// The permitted number of descriptors besides those in flight: the loop's, and idle connections.
    static let descriptorMargin = 300

    var seed: UInt64
    var sent = 0
    /// The number of requests that ended in each way: a status, or the name of an error.
    var outcomes: [String: Int] = [:]
    /// Incorrect outcomes: the fault, and the end of the request.
    var unexpected: [String: Int] = [:]
    var measures: [Measure] = []
    var descriptorsBefore = 0
    var descriptorsAfter = 0
    var seconds = 0.0

    init(seed: UInt64) { self.seed = seed }

    /// The number of requests that got their response.
    var succeeded: Int { outcomes["200"] ?? 0 }

    mutating func measure() {
        measures.append(
            Measure(sent: sent, memory: Self.residentMemory(), descriptors: Self.openDescriptors()))
    }

    /// The reasons for a failure of the run; empty if there is none.
    var flaws: [String] {
        var flaws = unexpected.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value) times)" }
        let ended = outcomes.values.reduce(0, +)
        if ended != sent { flaws.append("\(sent) sent, \(ended) ended") }
        let early = measures.prefix(max(1, measures.count / 5)).map(\.memory).max() ?? 0
        let late = measures.suffix(max(1, measures.count / 2)).map(\.memory).max() ?? 0
        if measures.count >= 10, late - early > Self.memoryMargin {
            flaws.append("memory grew from \(early) to \(late) KiB")
        }
        let most = measures.map(\.descriptors).max() ?? 0
        if most > descriptorsBefore + Self.descriptorMargin { flaws.append("\(most) descriptors at a time") }
        if descriptorsAfter != descriptorsBefore {
            flaws.append("\(descriptorsBefore) descriptors before, \(descriptorsAfter) after")
        }
        return flaws
    }

    static func openDescriptors() -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }

    private static func residentMemory() -> Int {
        let words = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
        return words.flatMap { $0.count > 1 ? Int($0[1]) : nil }.map { $0 * 4 } ?? 0
    }
}
