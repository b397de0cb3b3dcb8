import RxCache
import RxCookies
public import RxHTTP
public import RxLite
import Synchronization

/// State shared by all stages of one call, across its attempts.
public final class CallContext: Sendable {
    /// What kind of call it is.
    public let kind: CallKind
    /// The endpoint; `nil` for a request made by hand.
    public let endpoint: (any Endpoint)?
    /// What the call runs on. Interceptors that wait use its clock.
    public var scheduler: any Scheduler { prepared.scheduler }
    /// The number of the request, the same for all attempts.
    public var id: RequestID { prepared.request.id }
    /// Its tags.
    public var tags: Set<String> { prepared.options.tags }
    /// How many attempts have been begun.
    public var attempt: Int { progress.withLock { $0.count } }

    let client: Client
    let prepared: PreparedRequest
    let settings: CallSettings
    let stages: [Stage]
    /// The request before its attempts, or why it cannot be made.
    let request: Result<Request, NetworkError>
    /// Who is told what happens, if anybody is.
    let trace: Trace?
    let validation: Validation
    let replay = Replay()
    private let progress: Mutex<Progress>

    private struct Progress {
        var count = 0
        /// As whom the request has been sent.
        var stamp: CredentialVersion?
        /// Where the last attempt went.
        var host: HostState?
        /// Whether part of a response is out.
        var hasResponse = false
        var cached: CachedRequest?
        /// When the time for all attempts is over.
        var end: Duration?
        var values: [ObjectIdentifier: any Sendable] = [:]
    }

    /// - Throws: what an endpoint's request cannot be prepared for; see ``PreparedRequest``.
    init<E: Endpoint>(
        _ kind: CallKind, _ endpoint: E, of client: Client, on scheduler: any Scheduler,
        _ settings: CallSettings
    ) throws(NetworkError) {
        let prepared = try PreparedRequest(
            endpoint, of: client, on: scheduler, at: settings.server, page: settings.page)
        self.kind = kind
        self.endpoint = endpoint
        self.client = client
        self.settings = settings
        self.prepared = prepared
        stages =
            prepared.hasOwnInterceptors
            ? Pipeline.stages(for: kind, client.configuration, prepared.options.interceptors)
            : client.pipeline.stages(for: kind)
        validation = client.validation(for: E.kindOfOutput, prepared)
        do throws(NetworkError) {
            var request = try prepared.serialized()
            // Another server and another signature make another URL; the resource that is changed is the same.
            if !request.isSafe { request.resource = request.cacheURL }
            self.request = .success(request)
            trace = client.trace(of: request)
        } catch {
            request = .failure(error)
            trace = nil
        }
        progress = Mutex(Progress())
    }

    /// A request made by hand.
    init(_ request: Request, of client: Client, on scheduler: any Scheduler, _ settings: CallSettings) {
        kind = .exchange
        endpoint = nil
        self.client = client
        self.settings = settings
        prepared = PreparedRequest(request, of: client, on: scheduler)
        stages = client.pipeline.stages(for: .exchange)
        validation = client.validations.validation(for: .response)
        self.request = .success(request)
        trace = client.trace(of: request)
        progress = Mutex(Progress())
    }

    /// A value of the interceptors' own.
    public subscript<Key: CallValueKey>(key: Key.Type) -> Key.Value {
        get { progress.withLock { $0.values[ObjectIdentifier(key)] as? Key.Value } ?? Key.initial }
        set { progress.withLock { $0.values[ObjectIdentifier(key)] = newValue } }
    }

    /// The stream of all stages.
    func start() -> Observable<CallEvent, NetworkError> { Next(of: self)(prepared.request) }

    // MARK: - What the stages of the client keep

    /// What the cache has to do with it.
    var cached: CachedRequest? {
        get { progress.withLock { $0.cached } }
        set { progress.withLock { $0.cached = newValue } }
    }

    /// The session whose credential the request carries, if it may carry any.
    var session: Session? {
        prepared.options.usesSession != false && prepared.carriesCredentials
            ? client.configuration.session : nil
    }

    var cookies: CookieJar? {
        prepared.options.usesCookies != false && settings.usesCookies ? client.configuration.cookies : nil
    }

    /// What the last attempt carried.
    var stamp: CredentialVersion? { progress.withLock { $0.stamp } }

    /// Settles whose request it is.
    func note(_ stamp: CredentialVersion?) {
        progress.withLock { $0.stamp = stamp ?? $0.stamp }
    }

    /// The time for all attempts begins.
    func limit(to duration: Duration) {
        let end = scheduler.now + duration
        progress.withLock { $0.end = end }
    }

    /// Part of a response is out: no further attempt can make up for it.
    func noteResponse() {
        progress.withLock { $0.hasResponse = true }
        _ = replay.use()
    }

    /// `request` as the next attempt sends it: to its server, and signed.
    ///
    /// - Parameters:
    ///   - server: where it goes, if it goes to one of the service's.
    ///   - host: what is known of where it goes.
    func attempt(_ request: Request, at server: Server?, _ host: HostState?) throws(NetworkError) -> Request {
        let (count, stamp, cached) = progress.withLock { progress in
            progress.count += 1
            progress.host = host
            return (progress.count, progress.stamp, progress.cached)
        }
        host?.budget?.noteRequest()
        var next = try prepared.signed(
            prepared.moved(request, to: server), from: self.request.get(), at: server)
        // The first one goes as it is.
        if count > 1 { next.attempt = count }
        if let stamp { next.credentialVersion = stamp }
        cached?.noteFields(of: &next)
        return next
    }

    /// The error as this request's, at the attempt that it has come to.
    func attributed(_ error: NetworkError) -> NetworkError {
        guard case .success(var request) = request else { return error }
        let (count, stamp) = progress.withLock { ($0.count, $0.stamp) }
        if count > 1 { request.attempt = count }
        if let stamp { request.credentialVersion = stamp }
        return error.attributed(to: request)
    }

    /// What to do after a failed attempt: as the request's policy says, but without waits that would outlast the
    /// deadline, and within the host's budget.
    func decide(
        _ error: NetworkError, _ history: RetryHistory, by policy: RetryPolicy<NetworkError>
    ) -> RetryPolicy<NetworkError>.Decision {
        let (hasResponse, host, end) = progress.withLock { ($0.hasResponse, $0.host, $0.end) }
        guard !hasResponse else { return .stop }
        let decision = policy.decide(error, history)
        guard case .retry(let delay) = decision else { return decision }
        if let end, delay > end - scheduler.now { return .stop }
        guard host?.budget?.withdraw() ?? true else {
            trace?.tell(.retryRefused(because: error))
            return .stop
        }
        trace?.tell(.retry(after: delay, because: error))
        return decision
    }
}

extension CallContext: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The request's number, the kind and the attempt.
    public var description: String { "\(id), \(kind), attempt \(attempt)" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Empty, so that `dump` shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
