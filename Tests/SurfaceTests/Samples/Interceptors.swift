import RxNetworking

/// Measures each attempt.
struct AttemptTiming: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        let start = call.scheduler.now
        return next(request).handleEvents(onEnd: { completion in
            print("\(call.id), attempt \(request.attempt), \(call.scheduler.now - start): \(completion)")
        })
    }
}

/// Asks for the language that the user reads.
struct AcceptLanguage: Interceptor {
    let language: String

    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        var request = request
        request.headerFields[.acceptLanguage] = language
        return next(request)
    }
}

func addInterceptors() {
    var configuration = ClientConfiguration()
    configuration.options.interceptors.call = [.idempotencyKeys(), AcceptLanguage(language: "zh-Hans")]
    configuration.options.interceptors.attempt = [.serverRateLimits(), AttemptTiming()]
    configuration.options.interceptors.exchange = [.contentDigestVerification()]
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

/// For each attempt, where a 429 is an error.
struct SlowdownCount: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        next(request).handleEvents(onEnd: { completion in
            guard case .failed(let error) = completion, error.status == .tooManyRequests else { return }
            call[Slowdowns.self] += 1
        })
    }
}

func describePipeline(_ client: Client) {
    print(client.pipeline(for: .get("/goods")))
}
