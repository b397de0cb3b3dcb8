/// `URL COUNT INFLIGHT`, as the C reference takes them.
struct Arguments {
    /// What is wrong with them.
    struct Invalid: Error, CustomStringConvertible {
        let description: String
    }

    let url: String
    let count: Int
    let inFlight: Int

    init(_ words: [String]) throws(Invalid) {
        guard words.count == 3 else { throw Invalid(description: "usage: HTTPBenchmark URL COUNT INFLIGHT") }
        url = words[0]
        count = try Self.number(words[1])
        inFlight = min(try Self.number(words[2]), count)
    }

    private static func number(_ word: String) throws(Invalid) -> Int {
        guard let number = Int(word), number >= 1 else {
            throw Invalid(description: "not a number from 1: \(word)")
        }
        return number
    }
}
