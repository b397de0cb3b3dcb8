import RxCache
import RxHTTP
import RxLite
import Synchronization

/// The requests in flight that equal requests may join.
final class InFlightRequests: Sendable {
    /// The properties by which two requests are equal. A request gets the response of another only if
    /// everything that affects the outcome up to the response is in here; everything else must come after the
    /// joining.
    struct ID: Hashable {
        let key: CacheKey
        /// The number of the session's account. The key has the account's name, which stays the same after a
        /// new login.
        let account: Int?
        /// The request before signature, credential and cookies, without the total time limit, which each request keeps
        /// by itself.
        let request: Request.Shape
        let mode: CacheMode
        let lifetime: Duration?
        let tags: Set<String>
        /// The stages of the response before it is shared.
        let stages: Stages
    }

    /// The stages that a response goes through before it is shared with all waiting requests.
    enum Stages: Hashable {
        /// A closure of the caller: the first caller's closure runs.
        case byHand
        case client(CoalescingKey)
    }

    /// One request that several subscribers wait for. It does not retain its response, which retains the
    /// waiting requests.
    final class SharedRequest: Sendable {
        fileprivate let number: Int
        /// The time at which the first request began.
        let start: CacheHistory.Moment
        private let isStoreClaimed = Atomic<Bool>(false)
        private let retries = Atomic<Int>(0)
        private let sentFields = Mutex<SentFields?>(nil)

        fileprivate init(_ number: Int, _ start: CacheHistory.Moment) {
            self.number = number
            self.start = start
        }

        /// Returns `true` to the first caller that wants to store the response.
        func claimStore() -> Bool { !isStoreClaimed.exchange(true, ordering: .relaxed) }

        /// The number of retries so far.
        var retryCount: Int { retries.load(ordering: .relaxed) }

        /// Counts a retry.
        func recordRetry() { retries.add(1, ordering: .relaxed) }

        /// Sets the record for the cookies of the next exchange.
        func record(_ fields: SentFields) { sentFields.withLock { $0 = fields } }

        /// Whether the request has been sent with other cookies than these.
        fileprivate func wasSent(withOtherCookiesThan cookies: String) -> Bool {
            guard let sent = sentFields.withLock({ $0 })?.cookies else { return false }
            return sent != cookies
        }
    }

    private struct Contents {
        var requests: [ID: (sharedRequest: SharedRequest, response: Observable<Response, NetworkError>)] = [:]
        /// The number of the last request that was started.
        var count = 0
    }

    private let contents = Mutex(Contents())

    /// The shared request of `id`; `response` starts one if there is none. Its transfer ends with its last
    /// subscriber.
    ///
    /// A request is removed before its response is delivered, so that a request that begins after a response
    /// gets another one.
    ///
    /// - Parameters:
    ///   - cookies: the cookies that would be sent now; a request with other cookies is not joined.
    ///   - start: the time at which the request began.
    ///   - history: tells whether the entries of `id` have changed since a shared request began, which is then not
    ///     joined (RFC 9111 §4.4).
    func join(
        _ id: ID, cookies: String = "", since start: CacheHistory.Moment, in history: CacheHistory,
        or response: Observable<Response, NetworkError>
    ) -> (sharedRequest: SharedRequest, response: Observable<Response, NetworkError>, isNew: Bool) {
        let names = CacheSelection.names(of: id.key, tags: id.tags)
        // Released outside the lock.
        var replaced: Observable<Response, NetworkError>?
        defer { withExtendedLifetime(replaced) {} }
        return contents.withLock { contents in
            if let (sharedRequest, shared) = contents.requests[id],
                !sharedRequest.wasSent(withOtherCookiesThan: cookies),
                !history.hasChanged(names, since: sharedRequest.start)
            {
                return (sharedRequest, shared, false)
            }
            contents.count += 1
            let number = contents.count
            let removing = response.handleEvents(
                onNext: { _ in self.remove(id, number) }, onEnd: { _ in self.remove(id, number) },
                onCancel: { self.remove(id, number) })
            // A request that has found another before its end, and subscribes later, still gets the
            // response.
            let sharedRequest = SharedRequest(number, start)
            let shared = removing.share(replay: 1, reset: .unused)
            replaced = contents.requests.updateValue((sharedRequest, shared), forKey: id)?.response
            return (sharedRequest, shared, true)
        }
    }

    private func remove(_ id: ID, _ number: Int) {
        let removed = contents.withLock { contents in
            contents.requests[id]?.sharedRequest.number == number
                ? contents.requests.removeValue(forKey: id) : nil
        }
        // Released outside the lock.
        withExtendedLifetime(removed) {}
    }
}

// MARK: - Equal stages

/// The key by which requests share one run: the stages of a client that a response goes through before, as far as
/// endpoints can choose them.
///
/// Closures cannot be compared. A retry policy or an envelope of an endpoint counts as equal if the endpoints
/// are equal (`Hashable`); other endpoints with such options share with no request.
struct CoalescingKey: Hashable, Sendable {
    // An option that changes how a response is fetched or validated, and is not in `Request.Shape`, belongs
    // in here.

    private let client: ObjectIdentifier
    private let main: ObjectIdentifier
    private let standby: ObjectIdentifier?
    private let server: Servers.Role?
    private let hedging: Hedging?
    private let isSigned: Bool
    private let usesSession: Bool?
    private let usesCookies: Bool?
    private let contentTypes: ContentTypes?
    private let output: Validation.Output
    private let hasEnvelope: Bool
    /// The endpoint, if its options contain closures.
    private let endpoint: EndpointValue?

    /// Returns `nil` for stages that cannot be shared.
    init?(of call: CallContext) {
        guard call.kind == .request, let endpoint = call.endpoint else { return nil }
        self.init(of: endpoint, call)
    }

    private init?<E: Endpoint>(of endpoint: E, _ call: CallContext) {
        let (own, prepared) = (endpoint.options, call.prepared)
        let hasOwnStages = !own.interceptors.attempt.isEmpty || !own.interceptors.exchange.isEmpty
        if own.retry == nil, own.envelope?.isAbsent != false, !hasOwnStages {
            self.endpoint = nil
        } else {
            guard let value = EndpointValue(endpoint) else { return nil }
            self.endpoint = value
        }
        hasEnvelope = own.envelope?.isAbsent != true
        client = ObjectIdentifier(call.client)
        main = ObjectIdentifier(prepared.servers.main)
        standby = prepared.servers.standby.map { ObjectIdentifier($0) }
        server = prepared.server
        hedging = prepared.options.hedging
        isSigned = prepared.options.isSigned != false
        usesSession = prepared.options.usesSession
        usesCookies = prepared.options.usesCookies
        contentTypes = prepared.merged.ownContentTypes
        output = E.kindOfOutput
    }
}

/// An endpoint that can be compared.
private struct EndpointValue: Hashable, Sendable {
    // The value is an endpoint, and endpoints are Sendable.
    private nonisolated(unsafe) let value: AnyHashable

    /// Returns `nil` for an endpoint that cannot be compared.
    init?(_ endpoint: some Endpoint) {
        guard let value = endpoint as? any Hashable else { return nil }
        unsafe self.value = AnyHashable(value)
    }

    static func == (first: EndpointValue, second: EndpointValue) -> Bool {
        unsafe first.value == second.value
    }

    func hash(into hasher: inout Hasher) { unsafe hasher.combine(value) }
}
