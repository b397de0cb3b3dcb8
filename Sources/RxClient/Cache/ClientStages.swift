import RxHTTP

/// The stages of a client that a response goes through before it is shared with equal requests, as far as
/// endpoints can choose them: requests with equal stages can share one run.
///
/// Closures cannot be compared. A retry policy or an envelope of an endpoint counts as equal if the endpoints
/// are equal (`Hashable`); other endpoints with such options share with no request.
struct ClientStages: Hashable, Sendable {
    private let client: ObjectIdentifier
    private let main: ObjectIdentifier
    private let standby: ObjectIdentifier?
    private let server: ServerChoice
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
        isSigned = prepared.isSigned
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
