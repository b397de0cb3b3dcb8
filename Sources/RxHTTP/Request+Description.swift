import FoundationEssentials
import HTTPTypes

extension Request: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// One line without secrets: method, URL without user info, query and fragment, id, header fields, size
    /// of the body. `Authorization`, `Cookie`, `Proxy-Authorization`, `Sec-WebSocket-Protocol` and
    /// ``secretFields`` appear by name only.
    public var description: String {
        var parts = ["\(method.rawValue) \(redactedURL?.absoluteString ?? "…") \(id)"]
        if attempt > 1 { parts[0] += " (attempt \(attempt))" }
        parts += redaction.shown(headerFields).map { "\($0.name): \($0.value)" }
        let size = body.count.map { "\($0) bytes" } ?? "a stream"
        return (parts + [size]).joined(separator: ", ")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Empty, so that `dump` shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
