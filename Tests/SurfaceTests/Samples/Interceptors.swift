import RxNetworking

/// Adds the language that the user reads, and measures each attempt.
struct Localization: Interceptor {
    let language: String

    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        var request = request
        request.headerFields[.acceptLanguage] = language
        let start = call.scheduler.now
        return next(request).handleEvents(onEnd: { _ in
            print("\(call.id), attempt \(call.attempt): \(call.scheduler.now - start)")
        })
    }
}

func addInterceptors() {
    var configuration = ClientConfiguration()
    configuration.options.interceptors.call = [IdempotencyKeys()]
    configuration.options.interceptors.attempt = [RateLimitFollower(), Localization(language: "zh-Hans")]
    configuration.options.interceptors.exchange = [DigestVerification()]
    show(configuration)
}

/// Responds without the network while the shop is closed.
struct ClosingTime: Interceptor {
    let isClosed: @Sendable () -> Bool

    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard isClosed() else { return next(request) }
        let head = ResponseHead(status: .ok, headerFields: [.contentType: "application/json"])
        return next.respond(with: Response(head: head, body: Array("[]".utf8), request: request))
    }
}

/// Counts how often a call has been told to slow down.
enum Slowdowns: CallValueKey {
    static var initial: Int { 0 }
}

struct SlowdownCount: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        next(request).handleEvents(onNext: { event in
            if event.head?.status == .tooManyRequests { call[Slowdowns.self] += 1 }
        })
    }
}

func describePipeline(_ client: Client) {
    print(client.pipeline(for: .get("/goods")))
}
