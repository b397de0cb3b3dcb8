extension Recorder where Element: Equatable {
    /// How what was recorded differs from a diagram; `nil` if it does not.
    ///
    /// The notation is that of ``VirtualScheduler/cold(_:values:error:frame:)``. Errors are the same if they
    /// print the same.
    public func mismatch(
        with marbles: String, values: [Character: Element] = [:], error: Failure? = nil,
        frame: Duration = .milliseconds(1)
    ) throws(MarbleError) -> MarbleMismatch? {
        let expected = try MarbleEvent.events(of: marbles, values: values, error: error, frame: frame)
        return MarbleMismatch(expected: expected, actual: events, letters: values, frame: frame)
    }

    /// Throws a ``MarbleMismatch`` unless exactly what the diagram says was recorded.
    public func expect(
        _ marbles: String, values: [Character: Element] = [:], error: Failure? = nil,
        frame: Duration = .milliseconds(1)
    ) throws {
        if let mismatch = try mismatch(with: marbles, values: values, error: error, frame: frame) {
            throw mismatch
        }
    }
}
