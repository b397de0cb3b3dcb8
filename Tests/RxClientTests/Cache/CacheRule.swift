import HTTPTypes
import RxCache
import RxClient
import RxHTTP
import RxTesting
import Testing

/// One rule of RFC 9111: an answer that comes, and what becomes of a later request for the same.
struct CacheRule: Sendable, CustomTestStringConvertible {
    enum Outcome: Sendable, Equatable {
        /// The first answer is given, and nobody asked.
        case kept
        /// The same, though its time is over.
        case stale
        /// The server is asked, without conditions.
        case asked
        /// The server is asked to confirm the first answer.
        case confirmed
        /// 504, and nobody asked.
        case refused
    }

    let name: String
    var fields: CacheStage.Fields
    var status = 200
    var url = CacheStage.url
    /// What the first request has.
    var first: CacheStage.Fields = []
    /// How many seconds later the second one is sent.
    var wait = 0.0
    /// What the second request has.
    var second: CacheStage.Fields = []
    var mode = CacheMode.standard
    var outcome: Outcome

    init(
        _ name: String, _ fields: CacheStage.Fields, status: Int = 200, url: String = CacheStage.url,
        first: CacheStage.Fields = [], after wait: Double = 0, _ second: CacheStage.Fields = [],
        mode: CacheMode = .standard, gives outcome: Outcome
    ) {
        self.name = name
        self.fields = fields
        self.status = status
        self.url = url
        self.first = first
        self.wait = wait
        self.second = second
        self.mode = mode
        self.outcome = outcome
    }

    var testDescription: String { name }

    func check() throws {
        let stage = CacheStage([.fields(fields, status: status)])
        try stage.send(.get, url, first)
        try stage.wait(wait)
        let recorder = try stage.send(.get, url, second, mode: mode)
        let response = try #require(recorder.values.first)
        let request = try #require(stage.transport.requests.last)
        let isConditional =
            request.headerFields[.ifNoneMatch] != nil || request.headerFields[.ifModifiedSince] != nil
        let outcome: Outcome =
            switch (response.text, stage.asked) {
            case ("old", 1): response.cacheUse == .stale ? .stale : .kept
            case ("", 1) where response.status == .gatewayTimeout: .refused
            case ("new", 2): isConditional ? .confirmed : .asked
            default: throw Unexpected(text: response.text, asked: stage.asked)
            }
        #expect(outcome == self.outcome)
        #expect(response.isFromCache == [.kept, .stale].contains(outcome))
    }

    struct Unexpected: Error {
        let text: String
        let asked: Int
    }
}
