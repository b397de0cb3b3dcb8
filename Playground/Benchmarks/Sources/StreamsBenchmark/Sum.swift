/// What a subscriber does with the values it gets.
final class Sum: @unchecked Sendable {
    // Unchecked: added to by one subscription, whose events do not overlap, and read after its end.
    private(set) var value = 0

    func add(_ number: Int) { value &+= number }
}
