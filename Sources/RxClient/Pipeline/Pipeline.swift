import RxHTTP

/// The stages that a call passes through, in order.
///
/// A ``Walk`` takes the request down the list, and the response up again. Everything that a client sends goes this way,
/// except what a signer itself has to request; the table lists the stages of each kind of call. A failure goes up from the
/// stage that made it, and each stage above may send the request down again to those below it:
///
/// - **A 401** fails in `StatusCheck`; if nothing looks at the outcome of attempts, a whole response fails only in
///   `ResponseValidation`, as it does for a code of the envelope that means an expired login. At `Relogin` the session logs
///   in, once for all requests that wait, and the request goes down once more, whatever the number of attempts, with the new
///   credential (`Authorization`). If there is a newer credential already, no login is needed; a login that fails takes the
///   place of the 401. A second 401 goes on up, and so does the first one if the request had no credential or cannot be
///   repeated. A signer (`Signing`) and digest authentication (`Redirects`) may have sent an exchange again before.
/// - **A 503 with Retry-After** counts in `CircuitBreaking`. `HedgedAttempts` keeps it back while its other attempt runs, and
///   `ServerSelection` may send the attempt to the standby server, at once. `Retrying` then waits for the longer of its
///   backoff and Retry-After, without a place in `RequestLimiting`, and sends the request down as a new attempt; not if that
///   would pass the `Deadline` or the policy's longest wait, if the policy's number of retries or the host's budget is used
///   up, or if the request may not be repeated. At last `StaleIfError` may respond with a stored response. A 429 that names a
///   wait also pauses the host in `RequestLimiting`.
/// - **A cancel** closes the transfer, unless equal requests wait for the same one, and then tells each stage that has got
///   the request and no end, from the last one to the first: timers stop, permits and places in queues are given back, a
///   half-written file is left to resume. A login that has begun goes on. A subscriber that cancels gets nothing more; if the
///   client cancels the request, the stream fails with `cancelled`.
/// - **Two interceptors** of a place are two stages: the first in the list is the outer one, gets the request first and the
///   response last. The client's come before the endpoint's. Each subscription to an interceptor's `next` is a walk of its
///   own through the stages below. The place decides what they see: those around the call run once, whatever is repeated
///   below them; those around an attempt, again for each retry, relogin, hedge and standby server, and get an unsuccessful
///   status as a failure; those around an exchange, for each hop of a redirect too, and get every response as it arrives.
struct Pipeline: Sendable {
    /// The stages around the call.
    private static let call: [Row] = [
        // The app's interceptors around the call.
        Row(.call, for: .endpoints),
        Row(StaleIfError(), for: .typed, with: .caching),
        // Below `StaleIfError`, which acts on its failure, too.
        Row(Deadline(), for: .typed.union([.response, .stream, .download]), with: .deadline),
        Row(PathReservation(), for: [.download]),
        // The lookup, and the joining of equal requests: only stages above it run for each of them. The options of
        // those below count in ``CoalescingKey``.
        Row(Caching(), for: .typed, with: .caching),
        Row(Retrying(), for: .typed.union([.stream, .download])),
        Row(Relogin(), for: .managed, if: { $0.session != nil }),
        // Status, content type, envelope; for `response` only the status. Below the two stages that act on its
        // failures.
        Row(ResponseValidation(), for: .typed.union([.response])),
        Row(Revalidation(), for: .typed, with: .caching),
        Row(StreamOpening(), for: [.stream]),
        // The writing to a file, the parsing of events, or the messages of a WebSocket.
        Row(Reading(), for: [.download, .events, .webSocket]),
    ]

    /// The stages around each attempt.
    private static let attempt: [Row] = [
        Row(ServerSelection(), for: .endpoints),
        Row(HedgedAttempts(), for: [.request], with: .hedging),
        Row(CircuitBreaking(), for: .managed, if: { $0.circuitBreaker != nil }),
        Row(RequestLimiting(), for: .typed.union([.stream, .download]), if: { $0.isLimited }),
        // The signature of the parameters, and the session's credential, for which it may wait.
        Row(Authorization(), for: .endpoints),
        // The app's interceptors around each attempt.
        Row(.attempt, for: .endpoints),
        Row(ResponseGathering(), for: .typed.union([.response])),
        // For a whole response only if one of the stages around attempts, or an interceptor there, looks at the outcome.
        Row(StatusCheck(), for: .endpoints),
        Row(Reading(), for: [.progress]),
    ]

    /// The stages around each exchange on the wire.
    private static let exchange: [Row] = [
        // The hops of redirects, HSTS, and HTTP's own authentication.
        Row(Redirects(), for: .all),
        Row(CacheInvalidation(), for: .all),
        Row(CookieHandling(), for: .all, if: { $0.cookies != nil }),
        // The app's interceptors around each exchange.
        Row(.exchange, for: .all),
        Row(HandshakeOrder(), for: [.webSocket]),
        // After everything that is signed; only the fields of tracers are added later.
        Row(Signing(), for: .all, if: { $0.signer != nil }),
        Row(ExchangeTracing(), for: .all, with: .tracing),
        Row(Sending(), for: .all),
    ]

    /// The stages of a client's calls, by the raw values of their kinds.
    private let outlines: [Outline]
    /// The lists of those calls whose endpoints set no options, by kind.
    private let usualLists: [StageList]
    /// Those lists with observers.
    private let tracedLists: [StageList]
    private let usualFeatures: CallFeatures
    /// The client's signer, if it can sign at once; found here, because a cast for each exchange takes time.
    let immediateSigner: (any ImmediateSigner)?

    /// - Parameter features: the features of calls whose endpoints set no options.
    init(_ configuration: ClientConfiguration, features: CallFeatures) {
        let outlines = CallKind.allCases.map { kind in
            Outline([Self.call, Self.attempt, Self.exchange].map { $0.slots(for: kind, configuration) })
        }
        self.outlines = outlines
        usualLists = outlines.map { StageList($0.stages(features)) }
        tracedLists = outlines.map { StageList($0.stages(features.union(.tracing))) }
        usualFeatures = features
        immediateSigner = configuration.signer as? any ImmediateSigner
    }

    /// The stages of a call.
    ///
    /// - Parameter own: the interceptors that the endpoint adds.
    func stages(for kind: CallKind, _ features: CallFeatures, adding own: Interceptors? = nil) -> StageList {
        if own == nil {
            if features == usualFeatures { return usualLists[kind.rawValue] }
            if features == usualFeatures.union(.tracing) { return tracedLists[kind.rawValue] }
        }
        return StageList(outlines[kind.rawValue].stages(features, adding: own))
    }

    /// The stages as text: the names stand for the groups in the order of `init`.
    func description(of kind: CallKind, _ features: CallFeatures, adding own: Interceptors?) -> String {
        zip(["call", "attempt", "exchange"], outlines[kind.rawValue].groups)
            .map { name, slots in
                let names = Outline([slots]).stages(features, adding: own).map { "  " + $0.name }
                return ([name] + names).joined(separator: "\n")
            }
            .joined(separator: "\n")
    }
}

/// The stages of one kind of call, made once for a client: those of all features, and the places of endpoints'
/// interceptors.
private struct Outline: Sendable {
    enum Slot {
        case stage(ListedStage)
        case interceptors(Interceptors.Place)
    }

    let groups: [[Slot]]
    private let count: Int

    init(_ groups: [[Slot]]) {
        self.groups = groups
        count = groups.reduce(0) { $0 + $1.count }
    }

    func stages(_ features: CallFeatures, adding own: Interceptors? = nil) -> [ListedStage] {
        var stages: [ListedStage] = []
        stages.reserveCapacity(count)
        for group in groups {
            for slot in group {
                switch slot {
                case .stage(let stage):
                    if stage.requiredFeatures.isSubset(of: features) { stages.append(stage) }
                case .interceptors(let place): own?[place].forEach { stages.append(ListedStage($0)) }
                }
            }
        }
        return stages
    }
}

/// A row of the table.
private struct Row: Sendable {
    enum Content {
        case stage(any Stage, CallFeatures, isActive: @Sendable (ClientConfiguration) -> Bool)
        case interceptors(Interceptors.Place)
    }

    let content: Content
    let kinds: Set<CallKind>

    /// - Parameters:
    ///   - requiredFeatures: the features that the stage serves, if not every call of these kinds has them.
    ///   - isActive: whether a client needs the stage.
    init(
        _ stage: any Stage, for kinds: Set<CallKind>, with requiredFeatures: CallFeatures = [],
        if isActive: @escaping @Sendable (ClientConfiguration) -> Bool = { _ in true }
    ) {
        content = .stage(stage, requiredFeatures, isActive: isActive)
        self.kinds = kinds
    }

    /// The place of the app's interceptors.
    init(_ place: Interceptors.Place, for kinds: Set<CallKind>) {
        content = .interceptors(place)
        self.kinds = kinds
    }
}

extension [Row] {
    /// The stages of a kind of call, with the client's interceptors in their places.
    fileprivate func slots(for kind: CallKind, _ configuration: ClientConfiguration) -> [Outline.Slot] {
        filter { $0.kinds.contains(kind) }.flatMap { row -> [Outline.Slot] in
            switch row.content {
            case .stage(let stage, let requiredFeatures, let isActive):
                isActive(configuration) ? [.stage(ListedStage(stage, for: requiredFeatures))] : []
            case .interceptors(let place):
                configuration.options.interceptors[place].map { .stage(ListedStage($0)) }
                    + [.interceptors(place)]
            }
        }
    }
}

extension ClientConfiguration {
    fileprivate var isLimited: Bool { !limits.isNone || !hostLimits.isNone }
}

extension Set<CallKind> {
    /// The kinds with a typed result.
    fileprivate static var typed: Self { [.request, .progress] }
    /// The kinds with relogin, circuit breaker and failover.
    fileprivate static var managed: Self { typed.union([.stream, .download, .events, .webSocket]) }
    /// The kinds that take an endpoint.
    fileprivate static var endpoints: Self { managed.union([.response]) }
    fileprivate static var all: Self { Set(CallKind.allCases) }
}

extension Client {
    /// The stages of a call as text, in order: one line for each, in three groups.
    ///
    /// ```swift
    /// print(client.pipeline(for: GoodsList(keyword: "tea")))
    /// ```
    ///
    /// - Parameters:
    ///   - endpoint: the endpoint, whose interceptors are included.
    ///   - kind: the kind of call. Default ``CallKind/request``.
    public func pipeline(for endpoint: some Endpoint, as kind: CallKind = .request) -> String {
        let merged = merged(endpoint.options)
        return pipeline.description(of: kind, merged.features.union(.tracing), adding: merged.ownInterceptors)
    }
}
