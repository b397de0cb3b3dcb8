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
        Row(StaleIfError(), for: .typed),
        Row(Deadline(), for: .typed.union([.response, .stream, .download])),
        Row(PathReservation(), for: [.download]),
        // The lookup, and the joining of equal requests.
        Row(Caching(), for: .typed),
        Row(Retrying(), for: .typed.union([.stream, .download])),
        Row(Relogin(), for: .managed, if: { $0.session != nil }),
        // Status, content type, envelope.
        Row(ResponseValidation(), for: .typed.union([.response])),
        Row(Revalidation(), for: .typed),
        Row(StreamOpening(), for: [.stream]),
        // The writing to a file, the parsing of events, or the messages of a WebSocket.
        Row(Reading(), for: [.download, .events, .webSocket]),
    ]

    /// The stages around each attempt.
    private static let attempt: [Row] = [
        Row(ServerSelection(), for: .endpoints),
        Row(HedgedAttempts(), for: [.request]),
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
        Row(ExchangeTracing(), for: .all),
        Row(Sending(), for: .all),
    ]

    private let stages: [[ListedStage]]

    /// The stages of a client's calls whose endpoints add none.
    init(_ configuration: ClientConfiguration) {
        stages = CallKind.allCases.map {
            Self.stages(for: $0, configuration, configuration.options.interceptors)
        }
    }

    func stages(for kind: CallKind) -> [ListedStage] { stages[kind.rawValue] }

    /// The stages of one call.
    static func stages(
        for kind: CallKind, _ configuration: ClientConfiguration, _ interceptors: Interceptors
    ) -> [ListedStage] {
        groups(of: kind, configuration, interceptors).flatMap(\.stages)
    }

    /// The stages as text.
    static func description(
        of kind: CallKind, _ configuration: ClientConfiguration, _ interceptors: Interceptors
    ) -> String {
        groups(of: kind, configuration, interceptors)
            .map { name, stages in ([name] + stages.map { "  " + $0.name }).joined(separator: "\n") }
            .joined(separator: "\n")
    }

    private static func groups(
        of kind: CallKind, _ configuration: ClientConfiguration, _ interceptors: Interceptors
    ) -> [(name: String, stages: [ListedStage])] {
        [("call", call), ("attempt", attempt), ("exchange", exchange)].map { name, rows in
            let stages = rows.filter { $0.kinds.contains(kind) }.flatMap { row -> [ListedStage] in
                switch row.content {
                case .stage(let stage, let isActive): isActive(configuration) ? [ListedStage(stage)] : []
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
        case stage(any Stage, isActive: @Sendable (ClientConfiguration) -> Bool)
        case users(Interceptors.Place)
    }

    let content: Content
    let kinds: Set<CallKind>

    init(
        _ stage: any Stage, for kinds: Set<CallKind>,
        if isActive: @escaping @Sendable (ClientConfiguration) -> Bool = { _ in true }
    ) {
        content = .stage(stage, isActive: isActive)
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
        Pipeline.description(
            of: kind, configuration,
            configuration.options.interceptors.followed(by: endpoint.options.interceptors))
    }
}
