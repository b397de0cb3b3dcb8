import Foundation
import RxNetworking

/// The answer to a fetch. Its body is encoded as base64 on output.
struct FetchAnswer: Encodable, Sendable {
    let id: Command.ID
    let response: Response

    private enum Key: CodingKey {
        case id, status, statusText, url, headers, bodyBase64, interim, fromCache
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(id, forKey: .id)
        try container.encode(response.status.code, forKey: .status)
        try container.encode(response.status.reasonPhrase, forKey: .statusText)
        try container.encode(response.url.absoluteString, forKey: .url)
        try container.encode(response.head.headerFields.lines, forKey: .headers)
        try container.encode(Data(response.body).base64EncodedString(), forKey: .bodyBase64)
        try container.encode(response.interim.map(InterimAnswer.init), forKey: .interim)
        try container.encode(response.isFromCache, forKey: .fromCache)
    }
}

/// `[103, [["link", "…"]]]`
private struct InterimAnswer: Encodable {
    let head: ResponseHead

    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(head.status.code)
        try container.encode(head.headerFields.lines)
    }
}

/// An error, with its operation if the line had one.
struct ErrorAnswer: Encodable, Sendable {
    let id: Command.ID?
    let error: String
    let message: String

    init(_ id: Command.ID?, _ code: String, _ message: String) {
        self.id = id
        error = code
        self.message = message
    }

    init(_ id: Command.ID, _ error: NetworkError) {
        self.init(id, error.code.rawValue, error.message)
    }
}

/// One page of a chain.
struct PageAnswer: Encodable, Sendable {
    let id: Command.ID
    let page: Int
    let url: String
    let status: Int
    let items: Int
}

/// The end of a chain.
struct EndAnswer: Encodable, Sendable {
    let id: Command.ID
    let end = true
}

extension HTTPFields {
    /// Name and value of each, in order.
    var lines: [[String]] { map { [$0.name.rawName, $0.value] } }
}

/// An event of an event source.
struct EventAnswer: Encodable, Sendable {
    let id: Command.ID
    let sse: String
    var type: String?
    var data: String?
    var lastEventId: String?
    var reconnecting: Bool?
    var code: String?
    var message: String?

    /// Whether the source stops reconnecting.
    var isLast: Bool { reconnecting == false }

    /// `nil` for an event that a browser does not report.
    init?(_ id: Command.ID, _ update: EventSourceUpdate) {
        self.id = id
        switch update {
        case .open: sse = "open"
        case .message(let event):
            sse = "message"
            type = event.type
            data = event.data
            lastEventId = event.lastEventID
        case .comment: return nil
        case .reconnecting(_, let error):
            sse = "error"
            reconnecting = true
            code = error?.code.rawValue
            message = error?.message
        }
    }

    /// The final end.
    init(_ id: Command.ID, because error: NetworkError?) {
        self.id = id
        sse = "error"
        reconnecting = false
        code = error?.code.rawValue
        message = error?.message
    }
}
