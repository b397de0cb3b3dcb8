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
}
