import HTTPTypes
import RxCache
import RxHTTP
import RxLite

// The stages around a call, in the order of the list.

/// Falls back to a stored response if the server is unreachable or fails, and the `stale-if-error` of that
/// response allows it (RFC 5861 §4).
///
/// `ResponseCache.response(to:)` does the same for requests built by hand; change both.
final class StaleIfError: EndStage {
    func end(_ completion: inout Completion<NetworkError>, _ walk: Walk) -> Continuation {
        let call = walk.call
        guard case .failed(let error) = completion, error.isServerFailure,
            let stored = call.cached?.fallingBack(call.trace)
        else { return .end }
        return .respond(with: stored.validated(by: call.validation).map { .response($0) })
    }
}

/// Fails with `totalTimeout` when the time limit of all attempts has passed.
final class Deadline: RequestStage, EndStage {
    func send(_ request: inout Request, _ walk: Walk) -> Step {
        guard let limit = request.timeouts.total else { return .next }
        let call = walk.call
        call.limit(to: limit)
        let timer = OperatorTimer(call.scheduler, in: walk.scope)
        walk.memory.deadline = timer
        let fail = walk.failing()
        timer.set(after: limit) {
            let error = call.attributed(
                NetworkError(.totalTimeout, "total timeout: no response within \(limit)"))
            // The exchanges ask for the reason when they are abandoned.
            call.trace?.recordFailure(error)
            fail(error)
        }
        return .next
    }

    func end(_ completion: inout Completion<NetworkError>, _ walk: Walk) -> Continuation {
        cancel(walk)
        return .end
    }

    func cancel(_ walk: Walk) { walk.memory.deadline.take()?.cancel() }
}

/// Reserves the path of a download from its first attempt to its end.
final class PathReservation: RequestStage {
    var seesStandIns: Bool { true }

    func send(_ request: inout Request, _ walk: Walk) -> Step {
        let (original, call, rest) = (request, walk.call, walk.rest)
        guard let reader = call.overrides.reader as? DownloadReading else { return .next }
        return .respond(
            with: reader.files.reserving(
                reader.path, inFolder: reader.draftName(for: request), on: call.scheduler
            ) { file in
                call[ReservedPath.self] = file
                // Called only now, because the reading of the response needs the reserved file.
                return rest(original)
            }
            .mapError { $0.naming(original) })
    }
}

/// Looks for a usable stored response, and joins an equal request in flight.
final class Caching: RequestStage, EventStage {
    func send(_ request: inout Request, _ walk: Walk) throws(NetworkError) -> Step {
        let call = walk.call
        // The name of the account is known once its credential is.
        if let session = call.session, !request.isCredentialFree, !session.isRestored,
            !session.isLoggingIn(walk.scope.lane)
        {
            let (original, here) = (request, walk.here)
            return .respond(
                with: session.restore().setFailureType(to: NetworkError.self).flatMap(.concat) {
                    here(original)
                })
        }
        let account = request.isCredentialFree || call.session == nil ? nil : call.account
        if let account, !account.isCurrent { throw account.departure(of: request) }
        guard let cached = call.cached(request) else { return .next }
        // Not with a trace: `hit()` does not report the use of the cache, as the way below does.
        if call.trace == nil, var hit = cached.hit() {
            guard !hit.isLarge else {
                return .respond(
                    with: Observable<Response, NetworkError>.just(hit).validated(by: call.validation).map {
                        .response($0)
                    })
            }
            try call.validation.validate(&hit)
            return .answer(.response(hit))
        }
        let (original, rest) = (request, walk.rest)
        // A request of the login does not join requests that may wait for that login.
        let joins = call.session?.isLoggingIn(walk.scope.lane) != true
        return .respond(
            with: cached.respond(
                joining: joins ? CoalescingKey(of: call).map { .client($0) } : nil, trace: call.trace,
                validation: call.validation, retrying: { call.wait(after: $0, sharing: $1) }
            ) { entry in
                // For the stage ``Revalidation``.
                cached.entryToRevalidate = entry
                return rest(original).responses(of: call)
            } refreshing: { _ in
                call.client.refreshed(call)
            }
            .map { .response($0) })
    }

    /// Records the response before interceptors around the call change it. ``Client/typed(_:_:_:as:)`` stores it.
    func receive(_ event: inout CallEvent, _ walk: Walk) -> Bool {
        if case .response(let response) = event, !response.isFromCache { walk.call.cached?.record(response) }
        return true
    }
}

extension CallContext {
    /// Makes the cache's view of `request`, and keeps it for other stages; `nil` if the cache does not apply.
    fileprivate func cached(_ request: Request) -> CachedRequest? {
        var requester = CacheRequester()
        if let session, !request.isCredentialFree { requester = CacheRequester(session) }
        // Responses to requests with cookies are not reused for requests without cookies. The text is in the keys of
        // stored responses, which another one would lose.
        if client.configuration.cookies != nil, prepared.options.usesCookies == false {
            requester.name += " without cookies"
        }
        requester.jar = cookies
        requester.servers = prepared.servers
        let mode = trace?.isCacheDisabled == true ? .reload : prepared.options.cacheMode ?? .standard
        cached = CachedRequest(
            request, in: client.configuration.cache, prepared.options.cachePolicy ?? .never,
            overrides.isRefresh ? .noCache : mode, requester: requester, tags: prepared.options.tags,
            decoder: client.configuration.decoder)
        return cached
    }
}

/// Sends the request again after failures, by the call's ``RequestOptions/retry``. ``CallContext`` decides.
final class Retrying: RequestStage, EndStage {
    func send(_ request: inout Request, _ walk: Walk) -> Step {
        walk.memory.request = request
        walk.memory.retries = nil
        return .next
    }

    func end(_ completion: inout Completion<NetworkError>, _ walk: Walk) -> Continuation {
        guard case .failed(var error) = completion, let request = walk.memory.request, walk.scope.isOpen
        else { return .end }
        let call = walk.call
        var history = walk.memory.retries ?? RetryHistory(clock: call.scheduler)
        let verdict = call.decide(error, history)
        guard let delay = verdict.delay else {
            call.retryPolicy.stamp(&error, call.including(sharedRetriesIn: history))
            completion = .failed(error)
            return .end
        }
        call.cached?.recordRetry()
        history.count += 1
        history.lastDelay = delay
        walk.memory.retries = history
        guard delay > .zero else { return .again(request, after: nil) }
        walk.memory.waitingRetry = verdict
        return .again(
            request,
            after: Observable<Void, Never>.timer(delay, on: call.scheduler).setFailureType(
                to: NetworkError.self
            )
            .map { walk.memory.waitingRetry = nil })
    }

    /// A retry that is cancelled in its wait gives its credits back.
    func cancel(_ walk: Walk) { walk.memory.waitingRetry.take()?.giveBack() }
}

/// Lets the session log in again when the server says that the login has expired, and sends the request again: once
/// after a login, and before that with a credential adopted from another session, if there is one
/// (``Session/recovery(after:_:trace:)``). `SessionState` has the rules.
///
/// ``Observable/relogin(through:)`` does the same for chains composed by hand; change both.
final class Relogin: RequestStage, EventStage, EndStage {
    func send(_ request: inout Request, _ walk: Walk) -> Step {
        walk.memory.request = request
        walk.memory.renewed = nil
        return .next
    }

    func receive(_ event: inout CallEvent, _ walk: Walk) -> Bool {
        if let credentialVersion = walk.memory.renewed {
            walk.call.session?.recordSuccess(of: credentialVersion)
        }
        return true
    }

    func end(_ completion: inout Completion<NetworkError>, _ walk: Walk) -> Continuation {
        let call = walk.call
        guard case .failed(let error) = completion, let session = call.session,
            let request = walk.memory.request, walk.scope.isOpen
        else { return .end }
        // The stream fails with the error to report if the session cannot help.
        return .again(
            request,
            after: session.recovery(after: error, call.replay, trace: call.trace).map { credentialVersion in
                walk.memory.renewed = credentialVersion
            })
    }
}

/// Fails for an unsuccessful status, for a content type that is not accepted, and for a failure in the
/// envelope; otherwise removes the envelope.
final class ResponseValidation: EventStage {
    var seesStandIns: Bool { true }
    var readsContent: Bool { true }

    func receive(_ event: inout CallEvent, _ walk: Walk) throws(NetworkError) -> Bool {
        let call = walk.call
        guard call.kind != .response else {
            // For this kind of call, the user chains the validation by hand.
            if case .response(let response) = event { try response.checkStatus(call.validation.envelope) }
            return true
        }
        // Maybe outside of the lane; see ``EventStage/readsContent``.
        let credentialVersion = try event.validate(by: call.validation)
        call.session?.recordSuccess(of: credentialVersion)
        return true
    }
}

/// Asks the server to revalidate a stored response instead of sending it again (RFC 9111 §4.3).
///
/// ``CachedRequest/revalidate(_:_:)`` does the same for requests built by hand; change both.
final class Revalidation: RequestStage, EventStage, EndStage {
    /// One attempt, which may ask about a stored response.
    final class Attempt {
        // Belongs to one walk; accessed only inside its lane.
        let request: Request
        /// The stored response that the server may confirm.
        var entry: CacheEntry?
        /// Whether a 304 cannot be used: it confirms another response, follows a redirect, or brings too many fields.
        var isRefuted = false

        init(_ request: Request, confirming entry: CacheEntry?) {
            self.request = request
            self.entry = entry
        }
    }

    func send(_ request: inout Request, _ walk: Walk) -> Step {
        walk.memory.revalidation = nil
        guard let cached = walk.call.cached else { return .next }
        let entry = cached.entryToRevalidate
        walk.memory.revalidation = Attempt(request, confirming: cached.key.rules == .http ? entry : nil)
        cached.prepare(&request, revalidating: entry)
        return .next
    }

    func receive(_ event: inout CallEvent, _ walk: Walk) -> Bool {
        guard let entry = walk.memory.revalidation?.entry, let cached = walk.call.cached,
            case .response(let response) = event, response.status == .notModified
        else { return true }
        guard let revalidated = cached.confirm(entry, by: response) else {
            walk.memory.revalidation?.entry = nil
            walk.memory.revalidation?.isRefuted = true
            return false
        }
        walk.call.trace?.emitCached(.revalidated, revalidated.head)
        event = .response(revalidated)
        return true
    }

    /// Sends the request again, without conditions, after a 304 that cannot be used.
    func end(_ completion: inout Completion<NetworkError>, _ walk: Walk) -> Continuation {
        guard case .finished = completion, let attempt = walk.memory.revalidation, attempt.isRefuted,
            let cached = walk.call.cached
        else { return .end }
        walk.memory.revalidation?.isRefuted = false
        // Kept before `prepare` added the conditions, which it never removes.
        var request = attempt.request
        cached.prepare(&request, revalidating: nil)
        return .again(request, after: nil)
    }
}

/// Marks a stream as begun with its head: after that, no further attempt can make up for a failure.
final class StreamOpening: EventStage {
    var seesStandIns: Bool { true }

    func receive(_ event: inout CallEvent, _ walk: Walk) -> Bool {
        guard case .transfer(.head(var head)) = event else { return true }
        let call = walk.call
        call.recordResponse()
        call.session?.recordSuccess(of: call.credentialVersion)
        head.decoder = call.client.configuration.decoder
        event = .transfer(.head(head))
        return true
    }
}

/// Processes the events of the call's response: writes them to a file, parses them, or reports their
/// progress.
final class Reading: RequestStage {
    var seesStandIns: Bool { true }

    func send(_ request: inout Request, _ walk: Walk) -> Step {
        guard let reader = walk.call.overrides.reader else { return .next }
        return .respond(with: reader.intercept(request, in: walk.call, walk.rest))
    }
}
