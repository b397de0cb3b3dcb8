/// A value whose description is all that logs, `dump` and debuggers show of it, because its properties may hold
/// secrets.
///
/// A conforming type states its `description`.
public protocol RedactedDescription:
    CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{}

extension RedactedDescription {
    /// The same as `description`.
    public var debugDescription: String { description }

    /// Empty, so that `dump` and debuggers show only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
