import Foundation
import RxNetworking

/// The answer to a fetch. Its body becomes base64 where it is written.
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

/// What went wrong, with the operation that it went wrong with; without one if the line had none.
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
    /// Name and value of each, in the order they came.
    var lines: [[String]] { map { [$0.name.rawName, $0.value] } }
}

/// What happens to an event source.
struct EventAnswer: Encodable, Sendable {
    let id: Command.ID
    let sse: String
    var type: String?
    var data: String?
    var lastEventId: String?
    var reconnecting: Bool?
    var code: String?
    var message: String?

    /// Whether no further connection is tried.
    var isLast: Bool { reconnecting == false }

    /// `nil` for what a browser does not tell.
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

    /// The end for good.
    init(_ id: Command.ID, because error: NetworkError?) {
        self.id = id
        sse = "error"
        reconnecting = false
        code = error?.code.rawValue
        message = error?.message
    }
}
