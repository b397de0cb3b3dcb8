#if Inspector
import HTTPTypes
import RxHTTP

/// A `Network.ResourceType`, by which the panel filters.
enum ResourceType: String {
    case document = "Document"
    case stylesheet = "Stylesheet"
    case image = "Image"
    case media = "Media"
    case font = "Font"
    case script = "Script"
    case fetch = "Fetch"
    case eventSource = "EventSource"
    case webSocket = "WebSocket"

    /// The type that a request asks for.
    init(_ request: Request) {
        if request.upgrade != nil {
            self = .webSocket
        } else if request.headerFields[.accept]?.contains("text/event-stream") == true {
            self = .eventSource
        } else {
            self = .fetch
        }
    }

    /// The type of a response; `nil` if the request tells more.
    init?(_ head: ResponseHead) {
        let name = MediaType(head[.contentType]).name
        switch name {
        case "text/event-stream": self = .eventSource
        case "text/html", "application/xhtml+xml": self = .document
        case "text/css": self = .stylesheet
        case _ where name.hasPrefix("image/"): self = .image
        case _ where name.hasPrefix("audio/") || name.hasPrefix("video/"): self = .media
        case _ where name.hasPrefix("font/"): self = .font
        case _ where name.hasSuffix("javascript"): self = .script
        default: return nil
        }
    }
}
#endif
