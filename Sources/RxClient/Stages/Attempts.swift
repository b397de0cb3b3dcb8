import RxCache
import RxHTTP
import RxLite
import Synchronization

/// What the attempts of one request have in common: its id, its count, its account, its deadline, its one
/// replay.
final class Attempts: Sendable {
    let replay = Replay()
    let trace: Trace?
    /// Before it is attempted.
    let request: Request
    let draft: Draft
    /// What caches know the request by, if it may change something.
    private let resource: String?
    private let retrying: RetryPolicy<NetworkError>
    private let deadline: Duration?
    private let progress = Mutex(Progress())

    private struct Progress {
        var count = 0
        /// As whom the request has been sent.
        var stamp: CredentialVersion?
        /// Where the last attempt went.
        var host: HostState?
        /// Whether part of an answer is out.
        var hasAnswer = false
    }

    /// The time of ``Timeouts/total`` begins here.
    ///
    /// - Parameter tracing: who is told what happens to the request, if anybody is.
    /// - Throws: what cannot be serialised.
    init(
        of draft: Draft, retrying policy: RetryPolicy<NetworkError>,
        tracing: (Request) -> Trace? = { _ in nil }
    ) throws(NetworkError) {
        self.draft = draft
        var request = try draft.serialized()
        // Another server and another signature make another URL; the resource that is changed is the same.
        resource = request.isSafe ? nil : (draft.isSigned ? try draft.unsigned() : request).cacheURL
        request.resource = resource
        self.request = request
        trace = tracing(request)
        retrying = policy
        deadline = request.timeouts.total.map { draft.scheduler.now + $0 }
    }

    /// The request for the next attempt, signed anew from the second one on and for another server than the main one.
    ///
    /// - Parameters:
    ///   - server: where it goes, if it goes to one of the service's.
    ///   - host: what is known of where it goes.
    func next(at server: Server?, _ host: HostState?) throws(NetworkError) -> Request {
        let progress = progress.withLock { progress in
            progress.count += 1
            progress.host = host
            return progress
        }
        host?.budget?.noteRequest()
        let isMain = server == nil || server === draft.servers.main
        let isRenewed = draft.isSigned && (progress.count > 1 || !isMain)
        var next = isRenewed ? try draft.serialized(at: server) : draft.moved(request, to: server)
        if isRenewed { next.resource = resource }
        return request(next, progress)
    }

    /// Whether it may be sent twice.
    var isRepeatable: Bool { request.isRepeatable }

    var queueLimit: Duration? { request.timeouts.queue }

    /// The error as this request's, at the attempt that it has come to.
    var attribute: @Sendable (NetworkError) -> NetworkError {
        { error in
            let request = self.progress.withLock { self.request(self.request, $0) }
            return error.attributed(to: request)
        }
    }

    /// What the last attempt carried.
    var stamp: CredentialVersion? { progress.withLock { $0.stamp } }

    /// Settles whose request it is.
    func note(_ stamp: CredentialVersion?) {
        progress.withLock { $0.stamp = stamp ?? $0.stamp }
    }

    /// When to try again: as the request's policy says, but without waits that would outlast the deadline, and within
    /// the host's budget.
    var policy: RetryPolicy<NetworkError> {
        RetryPolicy({ error, history in self.decide(error, history) }, stamp: retrying.stamp)
    }

    private func decide(_ error: NetworkError, _ history: RetryHistory) -> RetryPolicy<NetworkError>.Decision
    {
        let decision = retrying.decide(error, history)
        guard case .retry(let delay) = decision else { return decision }
        if let deadline, delay > deadline - draft.scheduler.now { return .stop }
        guard progress.withLock({ $0.host })?.budget?.withdraw() ?? true else {
            trace?.tell(.retryRefused(because: error))
            return .stop
        }
        trace?.tell(.retry(after: delay, because: error))
        return decision
    }

    /// Part of an answer is out: no further attempt can make up for it.
    func noteAnswer() {
        progress.withLock { $0.hasAnswer = true }
        _ = replay.use()
    }

    /// The same up to ``noteAnswer()``.
    var policyUntilAnswer: RetryPolicy<NetworkError> {
        let policy = policy
        return RetryPolicy(
            { error, history in
                self.progress.withLock { $0.hasAnswer } ? .stop : policy.decide(error, history)
            }, stamp: policy.stamp)
    }

    /// How long all attempts together may take, and the error when they have.
    fileprivate var limit: Duration? { request.timeouts.total }

    fileprivate var timeout: NetworkError {
        NetworkError(
            .totalTimeout, "total timeout: no answer within \(request.timeouts.total ?? .zero)",
            request: progress.withLock { self.request(request, $0) })
    }

    private func request(_ serialized: Request, _ progress: Progress) -> Request {
        // The first one goes as it is.
        guard progress.count > 1 || progress.stamp != nil else { return serialized }
        var request = serialized
        request.attempt = max(progress.count, 1)
        request.credentialVersion = progress.stamp
        return request
    }
}

extension Observable where Failure == NetworkError {
    /// Ends with `totalTimeout` when the time for all attempts has passed.
    func deadline(of attempts: Attempts) -> Observable {
        guard let limit = attempts.limit else { return self }
        return timeout(limit, on: attempts.draft.scheduler) { attempts.timeout }
    }
}
