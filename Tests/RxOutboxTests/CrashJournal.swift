#if Outbox
import RxTesting
import Testing

/// Where a program with an outbox is killed; see `KillPlan` of the probe.
struct CrashKill: Sendable, Equatable {
    /// The place from which the time to the kill counts.
    let place: String
    /// The longest time to the kill, in microseconds.
    let longestDelay: Int
    /// The place is reached up to so many times before.
    let maxTurns: Int
    /// Whether it is killed only once it sends.
    var asSender = false

    static let start = CrashKill(place: "start", longestDelay: 40_000, maxTurns: 1)
    static let open = CrashKill(place: "open", longestDelay: 60_000, maxTurns: 1)
    static let standby = CrashKill(place: "standby", longestDelay: 60_000, maxTurns: 1)
    static let takeover = CrashKill(place: "takeover", longestDelay: 4000, maxTurns: 1)
    static let add = CrashKill(place: "add", longestDelay: 3000, maxTurns: 12)
    static let begin = CrashKill(place: "begin", longestDelay: 3000, maxTurns: 12)
    static let exchange = CrashKill(place: "exchange", longestDelay: 2000, maxTurns: 12)
    static let settle = CrashKill(place: "settle", longestDelay: 3000, maxTurns: 12)

    /// The arguments of the probe. One kill in four has no delay: nothing of what begins at the place happens.
    func arguments(_ random: inout SeededRandom) -> [String] {
        let isAtOnce = Int.random(in: 0..<4, using: &random) == 0
        let delay = isAtOnce ? 0 : Int.random(in: 1...longestDelay, using: &random)
        let turn = Int.random(in: 1...maxTurns, using: &random)
        return [place, "\(turn)", "\(delay)"] + (asSender ? ["sender"] : [])
    }
}

/// The notes of programs that were killed.
struct CrashJournal {
    /// The orders whose `enqueue` has returned.
    private(set) var promised: Set<Int> = []
    /// The sequence numbers of the orders in the store, by their keys.
    private(set) var sequences: [String: Int64] = [:]
    /// The number of programs that were started.
    var startCount = 0
    /// The number of programs by the place from which the time to their kill counted.
    private(set) var armed: [String: Int] = [:]
    /// The number of programs by what they were doing when they were killed, which may be several things at once.
    private(set) var interrupted: [String: Int] = [:]
    /// The number of times that a program took over from another one.
    private(set) var takeoverCount = 0

    /// Reads the output of the program that sends what is left; its last line.
    mutating func readLast(_ text: String) -> String? {
        var lines = text.split(separator: "\n").map(String.init)
        let last = lines.popLast()
        for line in lines {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 3, words[0] == "sequence", let number = Int64(words[2]) else {
                Issue.record("\(line)")
                continue
            }
            sequences[words[1]] = number
        }
        return last
    }

    /// Reads the output of one program.
    mutating func read(_ text: String) {
        var running: [String: Int] = [:]
        // The kill may cut the last line.
        let end = text.lastIndex(of: "\n") ?? text.startIndex
        for line in text[..<end].split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            switch (words.first, words.count) {
            case ("enqueued", 2): if let number = Int(words[1]) { promised.insert(number) }
            case ("sequence", 3):
                let known = sequences.updateValue(Int64(words[2]) ?? 0, forKey: words[1])
                if let known { #expect("\(known)" == words[2], "the number of \(words[1])") }
            case ("armed", 2): armed[words[1], default: 0] += 1
            case (let word?, 1) where word.hasPrefix("+"):
                running[String(word.dropFirst()), default: 0] += 1
                if word == "+takeover" { takeoverCount += 1 }
            case (let word?, 1) where word.hasPrefix("-"):
                running[String(word.dropFirst()), default: 0] -= 1
            default: Issue.record("\(line)")
            }
        }
        if running["open", default: 0] == 0 { return interrupted["start", default: 0] += 1 }
        let work = running.filter { $0.value > 0 && !["start", "open"].contains($0.key) }.keys
        if work.isEmpty { interrupted["open", default: 0] += 1 }
        for place in work { interrupted[place, default: 0] += 1 }
    }

    /// The kills by their places.
    var coverage: String {
        func list(_ counts: [String: Int]) -> String {
            counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        }
        return """
              counted from: \(list(armed)); during: \(list(interrupted)), of which start is before the store was open; \
            \(takeoverCount) takeovers
            """
    }
}
#endif
