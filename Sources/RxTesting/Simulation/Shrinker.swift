/// Looks for the smallest list of faults that still fails: removes faults (delta debugging, "Simplifying and Isolating
/// Failure-Inducing Input", Zeller and Hildebrandt, 2002), then makes the numbers of the others rounder.
struct Shrinker {
    private let fails: ([PlacedFault]) -> Bool
    /// The number of runs left.
    private var budget: Int

    /// - Parameters:
    ///   - budget: the most runs. Default 3,000.
    ///   - fails: whether a run with these faults fails.
    init(budget: Int = 3000, _ fails: @escaping ([PlacedFault]) -> Bool) {
        self.fails = fails
        self.budget = budget
    }

    mutating func smallest(of faults: [PlacedFault]) -> [PlacedFault] {
        rounded(fewest(of: faults))
    }

    /// Removes ever smaller parts of the list, until no single fault can be removed.
    private mutating func fewest(of faults: [PlacedFault]) -> [PlacedFault] {
        if stillFails([]) { return [] }
        var faults = faults
        var size = max(1, faults.count / 2)
        while true {
            var hasShrunk = false
            var start = 0
            while start < faults.count {
                let end = min(start + size, faults.count)
                let rest = Array(faults[..<start] + faults[end...])
                if stillFails(rest) {
                    faults = rest
                    hasShrunk = true
                } else {
                    start = end
                }
            }
            if size > 1 { size /= 2 } else if !hasShrunk { return faults }
        }
    }

    private mutating func rounded(_ faults: [PlacedFault]) -> [PlacedFault] {
        var faults = faults
        for index in faults.indices {
            // Each number once: a fault may have two.
            for _ in 0..<2 {
                let candidate = faults[index].fault.simpler.lazy.map { fault in
                    var candidate = faults
                    candidate[index].fault = fault
                    return candidate
                }
                guard let simpler = first(of: candidate) else { break }
                faults = simpler
            }
        }
        return faults
    }

    private mutating func first(of candidates: some Sequence<[PlacedFault]>) -> [PlacedFault]? {
        for candidate in candidates where stillFails(candidate) { return candidate }
        return nil
    }

    private mutating func stillFails(_ faults: [PlacedFault]) -> Bool {
        guard budget > 0 else { return false }
        budget -= 1
        return fails(faults)
    }
}
