import RxHAR

extension HARRecording: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number of entries.
    public var description: String { "\(archive.log.entries.count) entries" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Empty, so that `dump` shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
