extension Multipart: RedactedDescription {
    /// The descriptions of the parts.
    public var description: String {
        "form of " + parts.map { "(\($0))" }.joined(separator: ", ")
    }
}
