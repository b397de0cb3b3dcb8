import FoundationEssentials
import HTTPTypes

extension Request: RedactedDescription {
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
}
