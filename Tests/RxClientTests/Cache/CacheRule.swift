import HTTPTypes
import RxCache
import RxClient
import RxHTTP
import RxTesting
import Testing

/// One rule of RFC 9111: a response, and its effect on a later equal request.
struct CacheRule: Sendable, CustomTestStringConvertible {
    enum Outcome: Sendable, Equatable {
        /// The first response is delivered, and nothing sent.
        case kept
        /// The first response is delivered, though it is stale.
        case stale
        /// A request is sent, without conditions.
        case asked
        /// A request is sent that revalidates the first response.
        case revalidated
        /// 504, and nothing is sent.
        case refused
    }

    let name: String
    var fields: CacheStage.Fields
    var status = 200
    var url = CacheStage.url
    /// The fields of the first request.
    var first: CacheStage.Fields = []
    /// The time of the second request, in seconds after the first.
    var wait = 0.0
    /// The fields of the second request.
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
            case ("new", 2): isConditional ? .revalidated : .asked
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
