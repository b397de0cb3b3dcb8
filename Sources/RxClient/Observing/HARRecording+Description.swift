import RxHAR

extension HARRecording: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// How many entries there are.
    public var description: String { "\(archive.log.entries.count) entries" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Nothing, so that `dump` shows no more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
