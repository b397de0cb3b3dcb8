import Dispatch
import Foundation
import HTTPCases
import RxNetworking

// requests URL COUNT ROUNDS   a comparison of the ways
// once WAY URL COUNT          one way only, also for a profiler
// cache URL COUNT ROUNDS      responses from memory
// items URL COUNT             a list of COUNT items, page by page
// calls WAY URL COUNT         COUNT requests, one after the other, for a profiler that counts calls
// Lines of JSON on stdout.

let words = Array(CommandLine.arguments.dropFirst())

func number(_ index: Int) throws -> Int {
    guard let number = Int(words[index]), number >= 10 else {
        throw Arguments.Invalid(description: "not a number from 10: \(words[index])")
    }
    return number
}

func rounds(_ index: Int) throws -> Int {
    guard let rounds = Int(words[index]), rounds > 0 else {
        throw Arguments.Invalid(description: "not a number of rounds: \(words[index])")
    }
    return rounds
}

func run() async throws {
    switch (words.first, words.count) {
    case ("requests", 4):
        try await Comparison(baseURL: words[1], count: number(2), rounds: rounds(3)).run()
    case ("cache", 4):
        try Hits(baseURL: words[1], count: number(2), rounds: rounds(3)).run()
    case ("once", 4):
        guard let way = Way(rawValue: words[1]) else {
            throw Arguments.Invalid(description: "no such way: \(words[1])")
        }
        try await Once(way: way, baseURL: words[2], count: number(3)).run()
    case ("calls", 4):
        guard let way = Way(rawValue: words[1]) else {
            throw Arguments.Invalid(description: "no such way: \(words[1])")
        }
        try await Calls(way: way, baseURL: words[2], count: number(3)).run()
    case ("items", 3):
        try await Pages(baseURL: words[1], count: number(2)).run()
    default:
        throw Arguments.Invalid(
            description:
                "usage: APIBenchmark requests|cache URL COUNT ROUNDS | once|calls WAY URL COUNT | items URL COUNT"
        )
    }
}

// The main thread waits. Under valgrind 3.19 a program whose main thread is given to Dispatch, as `await` here would do,
// crashes.
let done = DispatchSemaphore(value: 0)
Task.detached {
    do {
        try await run()
    } catch {
        FileHandle.standardError.write(Data("\(error)\n".utf8))
        exit(2)
    }
    done.signal()
}
done.wait()
