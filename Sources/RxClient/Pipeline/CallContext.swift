import RxCache
import RxCookies
public import RxHTTP
public import RxLite
import Synchronization

/// One call across its attempts, as interceptors and the client's own stages share it.
public final class CallContext: Sendable {
    /// The kind of the call.
    public let kind: CallKind
    /// The endpoint; `nil` for a request built by hand.
    public let endpoint: (any Endpoint)?
    /// The scheduler of the call. Interceptors that wait use its clock.
    public var scheduler: any Scheduler { prepared.scheduler }
    /// The id of the request, the same for all attempts.
    public var id: RequestID { prepared.request.id }
    /// The tags of the request.
    public var tags: Set<String> { prepared.options.tags }
    /// The number of attempts that have begun.
    public var attempt: Int { progress.withLock { $0.count } }

    let client: Client
    let prepared: PreparedRequest
    var overrides: CallOverrides { _read { yield sharedOverrides.wrappedValue } }
    /// Shared by the calls of a stream.
    private let sharedOverrides: CopyOnWrite<CallOverrides>
    /// The account that the call belongs to, from its start; `nil` without a session.
    let account: SessionAccount?
    let stages: StageList
    /// The request before its attempts, or the error of making it.
    let request: Result<Request, NetworkError>
    /// Reports the events of the call, if there is a listener.
    let trace: Trace?
    let validation: Validation
    /// The one replay after a login, for all attempts; ruled out once part of a response has been delivered.
    let replay = Replay()
    private let progress: Mutex<Progress>

    private struct Progress {
        var count = 0
        /// The version of the credential that the request was sent with.
        var credentialVersion: CredentialVersion?
        /// The host of the last attempt.
        var host: HostState?
        /// Whether part of a response has been delivered.
        var hasResponse = false
        var cached: CachedRequest?
        /// The retries while the call waited for another request's response.
        var sharedRetries = 0
        /// The deadline of all attempts.
        var deadline: Duration?
        var values: [ObjectIdentifier: any Sendable] = [:]
    }

    /// - Parameters:
    ///   - output: the kind of the endpoint's output.
    ///   - lane: the lane of the subscription.
    /// - Throws: the error of preparing the endpoint's request; see ``PreparedRequest``.
    init(
        _ kind: CallKind, _ endpoint: any Endpoint, making output: Validation.Output, of client: Client,
        on scheduler: any Scheduler, in lane: Lane, _ overrides: CopyOnWrite<CallOverrides>
    ) throws(NetworkError) {
        let prepared = try PreparedRequest(
            endpoint, of: client, on: scheduler, at: overrides.wrappedValue.server,
            page: overrides.wrappedValue.page)
        self.kind = kind
        self.endpoint = endpoint
        self.client = client
        sharedOverrides = overrides
        account = overrides.wrappedValue.account ?? client.account(in: lane)
        self.prepared = prepared
        validation = client.validation(for: output, prepared.merged)
        do throws(NetworkError) {
            var request = try prepared.serialized()
            // For ``CacheChange``: server and signature change the URL, but not the resource that the request changes.
            if !request.isSafe { request.resource = request.cacheURL }
            self.request = .success(request)
            trace = client.trace(
                of: request, kind, endpoint, at: prepared.servers, page: overrides.wrappedValue.page,
                on: scheduler)
        } catch {
            request = .failure(error)
            trace = nil
        }
        var features = prepared.merged.features
        if trace != nil { features.insert(.tracing) }
        stages = client.pipeline.stages(for: kind, features, adding: prepared.merged.ownInterceptors)
        progress = Mutex(Progress())
    }

    /// A call for a request built by hand.
    init(_ request: Request, of client: Client, on scheduler: any Scheduler, _ overrides: CallOverrides) {
        kind = .exchange
        endpoint = nil
        self.client = client
        sharedOverrides = CopyOnWrite(wrappedValue: overrides)
        account = nil
        prepared = PreparedRequest(request, of: client, on: scheduler)
        validation = client.validations.validation(for: .response)
        self.request = .success(request)
        trace = client.trace(of: request, .exchange, nil, at: prepared.servers, page: nil, on: scheduler)
        stages = client.pipeline.stages(for: .exchange, trace == nil ? [] : .tracing)
        progress = Mutex(Progress())
    }

    /// A value that interceptors store in the call.
    public subscript<Key: CallValueKey>(key: Key.Type) -> Key.Value {
        get { progress.withLock { $0.values[ObjectIdentifier(key)] as? Key.Value } ?? Key.initial }
        set { progress.withLock { $0.values[ObjectIdentifier(key)] = newValue } }
    }

    // MARK: - State of the client's stages

    // The documentation of ``RequestOptions/retry`` describes it as the default.
    private static let standardRetryPolicy = RetryPolicy.exponentialBackoff()

    var retryPolicy: RetryPolicy<NetworkError> { prepared.options.retry ?? Self.standardRetryPolicy }

    /// The request as the cache sees it.
    var cached: CachedRequest? {
        get { progress.withLock { $0.cached } }
        set { progress.withLock { $0.cached = newValue } }
    }

    /// The session whose credential the request carries, if it may carry any.
    /// ``PreparedRequest/mayCarryCredential(_:of:)`` foresees this; change both.
    var session: Session? {
        prepared.options.usesSession != false && prepared.carriesCredentials
            ? client.configuration.session : nil
    }

    var cookies: CookieJar? {
        prepared.options.usesCookies != false && overrides.usesCookies ? client.configuration.cookies : nil
    }

    /// The version of the credential that the last attempt carried.
    var credentialVersion: CredentialVersion? { progress.withLock { $0.credentialVersion } }

    /// Records the version of the credential that the attempt carries. Later attempts get its stamp, which fixes their
    /// account.
    func record(_ credentialVersion: CredentialVersion?) {
        progress.withLock { $0.credentialVersion = credentialVersion ?? $0.credentialVersion }
    }

    /// Starts the time limit of all attempts.
    func limit(to duration: Duration) {
        let deadline = scheduler.now + duration
        progress.withLock { $0.deadline = deadline }
    }

    /// Whether the time limit of all attempts has passed.
    var isOverdue: Bool { progress.withLock { $0.deadline }.map { $0 <= scheduler.now } ?? false }

    /// Records that part of a response has been delivered: no further attempt can make up for a failure.
    func recordResponse() {
        progress.withLock { $0.hasResponse = true }
        _ = replay.use()
    }

    /// `request` for the next attempt: directed to its server and signed. To be called once for each attempt,
    /// which it counts.
    ///
    /// - Parameters:
    ///   - server: the server of the attempt, if it goes to one of the service's.
    ///   - host: the state of the attempt's host.
    func attempt(_ request: Request, at server: Server?, _ host: HostState?) throws(NetworkError) -> Request {
        let (count, credentialVersion, cached) = progress.withLock { progress in
            progress.count += 1
            progress.host = host
            return (progress.count, progress.credentialVersion, progress.cached)
        }
        host?.budget?.recordRequest()
        var next = try prepared.signed(
            prepared.moved(request, to: server), from: self.request.get(), at: server)
        // The first attempt needs no change.
        if count > 1 { next.attempt = count }
        if let credentialVersion { next.credentialVersion = credentialVersion }
        cached?.recordFields(of: &next)
        return next
    }

    /// The error with this request, the number of its attempt, and the version of its credential, without which there
    /// is no relogin (``Session/canRecover(from:)``).
    func attributed(_ error: NetworkError) -> NetworkError {
        guard case .success(var request) = request else { return error }
        let (count, credentialVersion) = progress.withLock { ($0.count, $0.credentialVersion) }
        if count > 1 { request.attempt = count }
        if let credentialVersion { request.credentialVersion = credentialVersion }
        return error.attributed(to: request)
    }

    /// Decides about a failed attempt: by the request's policy, but without waits that would exceed the
    /// deadline, and within the host's budget. To be called once for each failure: it charges the budget, and reports
    /// the retry.
    func decide(_ error: NetworkError, _ history: RetryHistory) -> RetryPolicy<NetworkError>.Verdict {
        let (hasResponse, host, deadline) = progress.withLock { ($0.hasResponse, $0.host, $0.deadline) }
        guard !hasResponse else { return .init(nil) }
        let verdict = retryPolicy.weigh(error, including(sharedRetriesIn: history))
        guard let delay = verdict.delay else { return verdict }
        if let deadline, delay > deadline - scheduler.now {
            verdict.giveBack()
            return .init(nil)
        }
        // A request that has joined another has no host yet.
        let asked = host ?? error.url.flatMap { Origin($0) }.map { client.hosts[$0] }
        let paid = verdict.charged(to: asked?.budget)
        if paid.delay != nil {
            trace?.emit(.retry(after: delay, because: error))
        } else {
            trace?.emit(.retryRefused(because: error))
        }
        return paid
    }

    /// The wait before a retry by the call's own policy and deadline, after a request that it had joined has failed;
    /// `nil` for no retry.
    ///
    /// - Parameter retries: the retries of that request since the joining, which count as the call's.
    func wait(after error: NetworkError, sharing retries: Int) -> Observable<Void, Never>? {
        progress.withLock { $0.sharedRetries += retries }
        let verdict = decide(error, RetryHistory(clock: scheduler))
        guard let delay = verdict.delay else { return nil }
        progress.withLock { $0.sharedRetries += 1 }
        return .timer(delay, on: scheduler)
    }

    /// `history` with the retries of the requests that the call had joined.
    func including(sharedRetriesIn history: RetryHistory) -> RetryHistory {
        var history = history
        history.count += progress.withLock { $0.sharedRetries }
        return history
    }
}

extension CallContext: RedactedDescription {
    /// The request's id, the kind and the attempt.
    public var description: String { "\(id), \(kind), attempt \(attempt)" }
}

/// The kinds of calls. Each kind goes through some of the stages: the rows in `Pipeline.swift` say which.
public enum CallKind: Int, Sendable, Hashable, CaseIterable {
    // `Pipeline` finds its lists by the raw values, which must count from 0 in the order of the cases;
    // RxTracing exports the names of the cases.

    /// ``Client/request(_:)``: a typed result. Pages are loaded in the same way.
    case request
    /// ``Client/progress(of:)``: a typed result with its progress.
    case progress
    /// ``Client/response(_:from:)``: one attempt, with further stages chained by hand.
    case response
    /// ``Client/stream(_:)``: the events of the response.
    case stream
    /// ``Client/download(_:to:ignoringQuery:in:)``: the response in a file.
    case download
    /// ``Client/events(_:until:deliversEnd:resumption:lastEventID:limit:backoff:)``: one connection of an event source.
    case events
    /// ``Client/webSocket(_:sending:settings:)``: one connection of a WebSocket.
    case webSocket
    /// ``Client/exchange(_:following:usesCookies:)``: a request built by hand.
    case exchange

    // `typed` in `Pipeline.swift` says the same as `isTyped`; its row of `ResponseGathering` has the kinds of
    // `isWhole`.

    /// Whether the result is an endpoint's output.
    var isTyped: Bool { self == .request || self == .progress }

    /// Whether one value is the whole result.
    var isWhole: Bool { self == .request || self == .progress || self == .response }
}

/// The values of one call that replace those of its endpoint and client, or add to them.
struct CallOverrides: Sendable {
    /// The server to use, instead of the endpoint's.
    var server: Servers.Role?
    /// The page of an endpoint that has several.
    var page: PageRequest?
    /// The account that the call belongs to, if it is part of a subscription that began earlier.
    var account: SessionAccount?
    /// Whether the call refreshes a stored response in the background: the user sees nothing of it
    /// (``CallRun``), and the server is asked in any case (``Caching``).
    var isRefresh = false
    /// The interceptor at the place of ``Reading``.
    var reader: (any Interceptor)?
    /// The redirects to follow, instead of the client's policy.
    var redirects: RedirectPolicy?
    /// Whether the call uses the cookie jar, if there is one.
    var usesCookies = true
}

/// The key of a value that interceptors store in a call; see ``CallContext/subscript(_:)``.
///
/// ```swift
/// enum StartOfWait: CallValueKey {
///     static var initial: Duration? { nil }
/// }
///
/// call[StartOfWait.self] = call.scheduler.now
/// ```
public protocol CallValueKey {
    /// The type of the value.
    associatedtype Value: Sendable
    /// The value before one is set.
    static var initial: Value { get }
}
