/// A subscriber's work: adds up the values.
final class Sum: @unchecked Sendable {
    // Unchecked: changed by one subscription, whose events do not overlap, and read after its end.
    private(set) var value = 0

    func add(_ number: Int) { value &+= number }
}
