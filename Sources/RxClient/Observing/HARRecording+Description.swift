import RxHAR
public import RxHTTP

extension HARRecording: RedactedDescription {
    /// The number of entries.
    public var description: String { "\(archive.log.entries.count) entries" }
}
