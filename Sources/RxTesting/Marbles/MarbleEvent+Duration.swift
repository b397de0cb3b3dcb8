extension MarbleEvent {
    /// The time from subscription to the last frame of a diagram, including that frame.
    package static func duration(of marbles: String, frame: Duration) throws(MarbleError) -> Duration {
        // A mark at the end is where the time of the diagram has come to.
        let marks = try MarbleParser.marks(of: marbles + "!", frame: frame)
        let zero = marks.first { $0.mark == .subscription }?.time ?? .zero
        return (marks.last?.time ?? .zero) - zero
    }
}
