import RxCache
import RxHTTP
import Testing

@testable import RxClient

@Suite struct RequestOptionsTests {
    @Test func areEmptyWithoutAnyOption() {
        #expect(RequestOptions().isEmpty)
    }

    /// Endpoints with empty options share those of the client.
    @Test(arguments: [
        RequestOptions(headers: ["X-App": "shop"]), RequestOptions(retry: .never),
        RequestOptions(timeouts: Timeouts()), RequestOptions(hedging: .after(.seconds(1))),
        RequestOptions(isIdempotent: false), RequestOptions(server: .active),
        RequestOptions(cachePolicy: .never), RequestOptions(cacheMode: .standard),
        RequestOptions(usesSession: true), RequestOptions(usesCookies: true), RequestOptions(isSigned: true),
        RequestOptions(usesParameterRewriting: true), RequestOptions(envelope: .absent),
        RequestOptions(contentTypes: .any), RequestOptions(part: "data"),
        RequestOptions(compression: .identity), RequestOptions(decodesContent: true),
        RequestOptions(continuePolicy: .never), RequestOptions(presentation: .all),
        RequestOptions(tags: ["search"]),
        RequestOptions(interceptors: Interceptors(call: [IdempotencyKeys()])),
    ])
    func areNotEmptyWithOneOption(_ options: RequestOptions) {
        #expect(!options.isEmpty)
    }

    @Test func aChangedCopyLeavesTheOthers() {
        let original = RequestOptions(headers: ["X-App": "shop"], tags: ["search"])
        var copy = original
        copy.headers = ["X-App": "other"]
        copy.tags.insert("more")
        copy.timeouts = .unlimited
        #expect(original.headers == ["X-App": "shop"] && original.tags == ["search"])
        #expect(original.timeouts == nil)
        #expect(copy.headers == ["X-App": "other"] && copy.tags == ["search", "more"])
        var empty = RequestOptions()
        empty.isSigned = false
        #expect(!empty.isEmpty && RequestOptions().isEmpty && RequestOptions().isSigned == nil)
    }
}
