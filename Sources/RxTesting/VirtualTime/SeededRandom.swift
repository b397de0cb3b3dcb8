/// A random source that gives the same numbers in every run (xorshift64*, Vigna 2016).
public struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a source. Equal seeds give equal numbers; two seeds in turn may, too.
    public init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    /// The next number.
    public mutating func next() -> UInt64 {
        // With other numbers each seed of a simulation gives another run, and seeds that tests name show other faults.
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }
}

extension [UInt8] {
    /// These bytes with a few of them changed, removed, duplicated or swapped: for parsers, which must not trap
    /// on any input.
    package func mutated(
        by random: inout SeededRandom, alphabet: [UInt8] = Array(UInt8.min...UInt8.max)
    ) -> [UInt8] {
        var bytes = self
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let index = Int.random(in: 0...bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes.insert(alphabet.randomElement(using: &random) ?? 0, at: index)
            case 1 where index < bytes.count: bytes.remove(at: index)
            case 2 where index < bytes.count: bytes[index] = alphabet.randomElement(using: &random) ?? 0
            default: bytes.insert(contentsOf: bytes.prefix(index), at: index)
            }
        }
        return bytes
    }
}
