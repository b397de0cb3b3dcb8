import FoundationEssentials
import HTTPTypes

extension Response: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// One line: status, URL without user info, query and fragment, the request's id, size of the body.
    public var description: String {
        "\(status.code) \(request.redactedURL?.absoluteString ?? "…") \(request.id), \(body.count) bytes"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Empty, so that `dump` shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
