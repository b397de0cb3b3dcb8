import Foundation
import RxNetworking

/// One line of input.
struct Command: Decodable {
    /// The id of an operation: any number or text, returned unchanged.
    enum ID: Hashable, Sendable, Codable {
        case number(Double)
        case text(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            self =
                try (try? container.decode(Double.self)).map(ID.number)
                ?? .text(container.decode(String.self))
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .number(let number): try container.encode(number)
            case .text(let text): try container.encode(text)
            }
        }
    }

    enum Operation: String, Decodable {
        case fetch, cancel, pages
        case openEvents = "sse-open"
        case closeEvents = "sse-close"
    }

    enum Redirect: String, Decodable {
        case follow, manual, error
    }

    enum Credentials: String, Decodable {
        case include, omit
    }

    let op: Operation
    let id: ID
    let method: String?
    let url: String?
    let headers: [[String]]?
    let bodyBase64: String?
    let cache: CacheMode?
    let redirect: Redirect?
    let credentials: Credentials?

    /// The id alone, for lines that are otherwise invalid.
    struct Identified: Decodable {
        let id: ID
    }
}
