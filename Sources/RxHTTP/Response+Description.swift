import FoundationEssentials
import HTTPTypes

extension Response: RedactedDescription {
    /// One line: status, URL without user info, query and fragment, the request's id, size of the body.
    public var description: String {
        "\(status.code) \(request.redactedURL?.absoluteString ?? "…") \(request.id), \(body.count) bytes"
    }
}
