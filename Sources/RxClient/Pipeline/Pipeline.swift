import RxHTTP

/// The stages that a call passes through, in order.
///
/// A stage gets the request and the later stages, and returns a stream. Everything that a client sends passes
/// through the pipeline; the table lists the stages of each kind of call.
struct Pipeline: Sendable {
    /// The stages around the call.
    private static let call: [Entry] = [
        Entry(CallLifecycle(), for: .endpoints),
        Entry(ReachabilityCheck(), for: .endpoints, if: { $0.reachability != nil }),
        Entry(Serialization(), for: .endpoints),
        Entry(CallTracing(), for: .all),
        Entry(Decoding(), for: .typed),
        // The app's interceptors around the call.
        Entry(.call, for: .endpoints),
        Entry(StaleIfError(), for: .typed),
        Entry(Deadline(), for: .typed.union([.response, .stream, .download])),
        Entry(PathReservation(), for: [.download]),
        // The lookup, and the joining of equal requests.
        Entry(Caching(), for: .typed),
        Entry(Retrying(), for: .typed.union([.stream, .download])),
        Entry(Relogin(), for: .managed, if: { $0.session != nil }),
        // Status, content type, envelope.
        Entry(ResponseValidation(), for: .typed.union([.response])),
        Entry(Revalidation(), for: .typed),
        Entry(StreamOpening(), for: [.stream]),
        // The writing to a file, the parsing of events, or the messages of a WebSocket.
        Entry(Reading(), for: [.download, .events, .webSocket]),
    ]

    /// The stages around each attempt.
    private static let attempt: [Entry] = [
        Entry(ServerSelection(), for: .endpoints),
        Entry(HedgedAttempts(), for: [.request]),
        Entry(CircuitBreaking(), for: .managed, if: { $0.circuitBreaker != nil }),
        Entry(RequestLimiting(), for: .typed.union([.stream, .download]), if: { $0.isLimited }),
        // The signature and the session's credential.
        Entry(Authorization(), for: .endpoints),
        // The app's interceptors around each attempt.
        Entry(.attempt, for: .endpoints),
        Entry(ResponseGathering(), for: .typed.union([.response])),
        Entry(StatusCheck(), for: .managed),
        Entry(Reading(), for: [.progress]),
    ]

    /// The stages around each exchange on the wire.
    private static let exchange: [Entry] = [
        Entry(Redirects(), for: .all),
        Entry(CacheInvalidation(), for: .all),
        Entry(CookieHandling(), for: .all, if: { $0.cookies != nil }),
        // The app's interceptors around each exchange.
        Entry(.exchange, for: .all),
        Entry(HandshakeOrder(), for: [.webSocket]),
        Entry(ExchangeTracing(), for: .all),
        Entry(Sending(), for: .all),
    ]

    private let stages: [[Stage]]

    /// The stages of a client's calls whose endpoints add none.
    init(_ configuration: ClientConfiguration) {
        stages = CallKind.allCases.map {
            Self.stages(for: $0, configuration, configuration.options.interceptors)
        }
    }

    func stages(for kind: CallKind) -> [Stage] { stages[kind.rawValue] }

    /// The stages of one call.
    static func stages(
        for kind: CallKind, _ configuration: ClientConfiguration, _ interceptors: Interceptors
    ) -> [Stage] {
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
    ) -> [(name: String, stages: [Stage])] {
        var followsUsers = false
        return [("call", call), ("attempt", attempt), ("exchange", exchange)].map { name, entries in
            var stages: [Stage] = []
            for entry in entries where entry.kinds.contains(kind) {
                switch entry.content {
                case .stage(let interceptor, let isActive):
                    guard isActive(configuration) else { continue }
                    stages.append(Stage(interceptor, followsUsers: followsUsers))
                    followsUsers = false
                case .users(let place):
                    stages += interceptors[place].map { Stage($0, isUsers: true) }
                    followsUsers = followsUsers || !interceptors[place].isEmpty
                }
            }
            return (name, stages)
        }
    }
}

/// A row of the table.
private struct Entry: Sendable {
    enum Content {
        case stage(any Interceptor, isActive: @Sendable (ClientConfiguration) -> Bool)
        case users(Interceptors.Place)
    }

    let content: Content
    let kinds: Set<CallKind>

    init(
        _ interceptor: any Interceptor, for kinds: Set<CallKind>,
        if isActive: @escaping @Sendable (ClientConfiguration) -> Bool = { _ in true }
    ) {
        content = .stage(interceptor, isActive: isActive)
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
