extension Recorder where Element: Equatable {
    /// The difference between the recording and a diagram; `nil` if there is none.
    ///
    /// For the notation see ``VirtualScheduler/cold(_:values:error:frame:)``. Errors are equal if they print
    /// the same.
    public func mismatch(
        with marbles: String, values: [Character: Element] = [:], error: Failure? = nil,
        frame: Duration = .milliseconds(1)
    ) throws(MarbleError) -> MarbleMismatch? {
        let expected = try MarbleEvent.events(of: marbles, values: values, error: error, frame: frame)
        return MarbleMismatch(expected: expected, actual: events, letters: values, frame: frame)
    }

    /// Throws a ``MarbleMismatch`` unless the recording matches the diagram exactly.
    public func expect(
        _ marbles: String, values: [Character: Element] = [:], error: Failure? = nil,
        frame: Duration = .milliseconds(1)
    ) throws {
        if let mismatch = try mismatch(with: marbles, values: values, error: error, frame: frame) {
            throw mismatch
        }
    }
}
