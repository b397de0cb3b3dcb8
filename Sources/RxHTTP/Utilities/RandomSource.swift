package import FoundationEssentials
import Synchronization

/// The random numbers of everything that needs no secret beyond them: the system's, or within a simulation the numbers
/// that follow from its seed.
package struct RandomSource: RandomNumberGenerator, Sendable {
    /// The numbers and ids of one simulation. Thread-safe.
    package final class Simulated: Sendable {
        private struct Contents {
            var generator: any RandomNumberGenerator & Sendable
            var latestID: UInt64 = 0
        }

        private let contents: Mutex<Contents>

        /// Creates a source of the generator's numbers.
        package init(_ generator: any RandomNumberGenerator & Sendable) {
            contents = Mutex(Contents(generator: generator))
        }

        /// The next number.
        package func next() -> UInt64 { contents.withLock { $0.generator.next() } }

        /// Counts up from 1.
        package func nextID() -> UInt64 {
            contents.withLock { contents in
                contents.latestID += 1
                return contents.latestID
            }
        }
    }

    /// The source of the simulation that runs the caller; `nil` outside of simulations.
    @TaskLocal package static var simulated: Simulated?

    // ThreadSanitizer reads generators at the address that they are passed by, so this may not be an empty value.
    private let simulated: Simulated?

    /// Creates a generator for the caller.
    package init() { simulated = Self.simulated }

    /// The next number.
    package mutating func next() -> UInt64 {
        if let simulated { return simulated.next() }
        var system = SystemRandomNumberGenerator()
        return system.next()
    }

    /// A number from 0 up to 1.
    package static func fraction() -> Double {
        var generator = RandomSource()
        return .random(in: 0..<1, using: &generator)
    }

    /// A number.
    package static func number() -> UInt64 {
        var generator = RandomSource()
        return generator.next()
    }

    /// A random UUID (version 4, RFC 9562 §5.4).
    package static func uuid() -> UUID {
        guard simulated != nil else { return UUID() }
        return UUID(high: number() & ~0xF000 | 0x4000, low: number() & ~(3 << 62) | 1 << 63)
    }
}

extension UUID {
    /// The UUID of two halves, the most significant bits first.
    package init(high: UInt64, low: UInt64) {
        func byte(_ word: UInt64, _ index: Int) -> UInt8 {
            UInt8(truncatingIfNeeded: word >> (56 - 8 * index))
        }
        self.init(
            uuid: (
                byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5),
                byte(high, 6), byte(high, 7), byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3),
                byte(low, 4), byte(low, 5), byte(low, 6), byte(low, 7)
            ))
    }
}
