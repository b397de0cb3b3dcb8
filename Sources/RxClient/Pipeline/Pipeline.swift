import RxHTTP

/// The stages that a call passes through, in order.
///
/// A ``Walk`` takes the request down the list, and the response up again. Everything that a client sends goes this way; the
/// table lists the stages of each kind of call.
struct Pipeline: Sendable {
    /// The stages around the call.
    private static let call: [Row] = [
        // The app's interceptors around the call.
        Row(.call, for: .endpoints),
        Row(StaleIfError(), for: .typed, with: .caching),
        Row(Deadline(), for: .typed.union([.response, .stream, .download]), with: .deadline),
        Row(PathReservation(), for: [.download]),
        // The lookup, and the joining of equal requests.
        Row(Caching(), for: .typed, with: .caching),
        Row(Retrying(), for: .typed.union([.stream, .download])),
        Row(Relogin(), for: .managed, if: { $0.session != nil }),
        // Status, content type, envelope.
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
        // The signature and the session's credential.
        Row(Authorization(), for: .endpoints),
        // The app's interceptors around each attempt.
        Row(.attempt, for: .endpoints),
        Row(ResponseGathering(), for: .typed.union([.response])),
        Row(StatusCheck(), for: .managed),
        Row(Reading(), for: [.progress]),
    ]

    /// The stages around each exchange on the wire.
    private static let exchange: [Row] = [
        Row(Redirects(), for: .all),
        Row(CacheInvalidation(), for: .all),
        Row(CookieHandling(), for: .all, if: { $0.cookies != nil }),
        // The app's interceptors around each exchange.
        Row(.exchange, for: .all),
        Row(HandshakeOrder(), for: [.webSocket]),
        // The last stage that changes the request.
        Row(Signing(), for: .all, if: { $0.signer != nil }),
        Row(ExchangeTracing(), for: .all, with: .tracing),
        Row(Sending(), for: .all),
    ]

    /// The lists of a client's calls whose endpoints add no interceptors, by kind.
    private let lists: [StageList]
    /// Those of them with the rules of most calls, by kind.
    private let usualLists: [StageList]
    /// The same with observers.
    private let tracedLists: [StageList]
    private let usualRules: CallRules

    /// - Parameter rules: the rules of calls whose endpoints set no options.
    init(_ configuration: ClientConfiguration, rules: CallRules) {
        let lists = CallKind.allCases.map {
            Self.stages(for: $0, configuration, configuration.options.interceptors)
        }
        self.lists = lists
        usualLists = lists.map { $0.with(rules) }
        tracedLists = lists.map { $0.with(rules.union(.tracing)) }
        usualRules = rules
    }

    /// The stages of a call whose endpoint adds no interceptors.
    func stages(for kind: CallKind, _ rules: CallRules) -> StageList {
        if rules == usualRules { return usualLists[kind.rawValue] }
        if rules == usualRules.union(.tracing) { return tracedLists[kind.rawValue] }
        return lists[kind.rawValue].with(rules)
    }

    /// The stages of one call, with those of all rules.
    static func stages(
        for kind: CallKind, _ configuration: ClientConfiguration, _ interceptors: Interceptors
    ) -> StageList {
        StageList(groups(of: kind, configuration, interceptors).flatMap(\.stages))
    }

    /// The stages as text.
    static func description(
        of kind: CallKind, _ configuration: ClientConfiguration, _ interceptors: Interceptors,
        _ rules: CallRules
    ) -> String {
        groups(of: kind, configuration, interceptors)
            .map { name, stages in
                let names = stages.filter { $0.rule.isSubset(of: rules) }.map { "  " + $0.name }
                return ([name] + names).joined(separator: "\n")
            }
            .joined(separator: "\n")
    }

    private static func groups(
        of kind: CallKind, _ configuration: ClientConfiguration, _ interceptors: Interceptors
    ) -> [(name: String, stages: [ListedStage])] {
        [("call", call), ("attempt", attempt), ("exchange", exchange)].map { name, rows in
            let stages = rows.filter { $0.kinds.contains(kind) }.flatMap { row -> [ListedStage] in
                switch row.content {
                case .stage(let stage, let rule, let isActive):
                    isActive(configuration) ? [ListedStage(stage, for: rule)] : []
                case .users(let place): interceptors[place].map { ListedStage($0) }
                }
            }
            return (name, stages)
        }
    }
}

/// A row of the table.
private struct Row: Sendable {
    enum Content {
        case stage(any Stage, CallRules, isActive: @Sendable (ClientConfiguration) -> Bool)
        case users(Interceptors.Place)
    }

    let content: Content
    let kinds: Set<CallKind>

    /// - Parameters:
    ///   - rule: the rule of the stage, if not every call of these kinds has it.
    ///   - isActive: whether a client needs the stage.
    init(
        _ stage: any Stage, for kinds: Set<CallKind>, with rule: CallRules = [],
        if isActive: @escaping @Sendable (ClientConfiguration) -> Bool = { _ in true }
    ) {
        content = .stage(stage, rule, isActive: isActive)
        self.kinds = kinds
    }

    /// The place of the app's interceptors.
    init(_ place: Interceptors.Place, for kinds: Set<CallKind>) {
        content = .users(place)
        self.kinds = kinds
    }
}

extension ClientConfiguration {
    fileprivate var isLimited: Bool { !limits.isNone || !hostLimits.isNone }
}

extension Set<CallKind> {
    /// The kinds with a typed result.
    fileprivate static var typed: Self { [.request, .progress] }
    /// The kinds whose attempts the pipeline manages, with retries and failover.
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
        return Pipeline.description(
            of: kind, configuration, merged.values.interceptors, merged.rules.union(.tracing))
    }
}
