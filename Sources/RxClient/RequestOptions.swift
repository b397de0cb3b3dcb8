public import RxCache
public import RxHTTP
public import RxLite

/// The options of an endpoint's requests and responses.
///
/// An option without a value follows the client: ``ClientConfiguration/options`` are the options of all
/// requests, and ``Endpoint/options`` the options of one endpoint.
///
/// ```swift
/// var options: RequestOptions { RequestOptions(retry: .never, timeouts: Timeouts(total: .seconds(5))) }
/// ```
public struct RequestOptions: Sendable {
    /// The header fields. An endpoint's fields replace the client's fields of the same name.
    public var headers: Headers {
        get { values.headers }
        _modify { yield &values.headers }
    }
    /// The retry policy. Default: two retries with growing waits, for requests that may be repeated.
    public var retry: RetryPolicy<NetworkError>? {
        get { values.retry }
        _modify { yield &values.retry }
    }
    /// The timeouts of each phase. Default: the default values of ``Timeouts``.
    public var timeouts: Timeouts? {
        get { values.timeouts }
        _modify { yield &values.timeouts }
    }
    /// When a second attempt is sent in parallel to a slow one. Default: never.
    public var hedging: Hedging? {
        get { values.hedging }
        _modify { yield &values.hedging }
    }
    /// Whether a request may be repeated although its method does not guarantee that. Default false.
    public var isIdempotent: Bool? {
        get { values.isIdempotent }
        _modify { yield &values.isIdempotent }
    }
    /// The server of the service that requests go to, even if it does not respond. Default: the choice of the client's
    /// options, which an endpoint cannot take back; without one the active server (``Servers/active``); with
    /// ``ClientConfiguration/failoverProbeInterval``, also the other server if the active one does not respond. The
    /// standby server fails with `invalidURL` if the client has none.
    public var server: Servers.Role? {
        get { values.server }
        _modify { yield &values.server }
    }

    /// Which responses are stored and reused. Default: none.
    public var cachePolicy: CachePolicy? {
        get { values.cachePolicy }
        _modify { yield &values.cachePolicy }
    }
    /// How a request uses the cache. Default: according to the policy.
    public var cacheMode: CacheMode? {
        get { values.cacheMode }
        _modify { yield &values.cacheMode }
    }

    /// Whether a request carries the session's credential. Default true; a login never does.
    public var usesSession: Bool? {
        get { values.usesSession }
        _modify { yield &values.usesSession }
    }
    /// Whether a request carries the jar's cookies, and the jar stores the cookies of its response. Default
    /// true.
    public var usesCookies: Bool? {
        get { values.usesCookies }
        _modify { yield &values.usesCookies }
    }
    /// Whether ``ClientConfiguration/signature`` and ``ClientConfiguration/signer`` sign a request. Default true.
    public var isSigned: Bool? {
        get { values.isSigned }
        _modify { yield &values.isSigned }
    }
    /// Whether ``ClientConfiguration/rewriteParameters`` applies. Default true.
    public var usesParameterRewriting: Bool? {
        get { values.usesParameterRewriting }
        _modify { yield &values.usesParameterRewriting }
    }

    /// The envelope of a response. Default ``Envelope/absent``.
    public var envelope: Envelope? {
        get { values.envelope }
        _modify { yield &values.envelope }
    }
    /// The accepted content types; others fail with `contentType`. Default: the JSON types if the output is decoded,
    /// with `text/plain` if it is a `String`; otherwise all types. A response without a content type is accepted.
    public var contentTypes: ContentTypes? {
        get { values.contentTypes }
        _modify { yield &values.contentTypes }
    }
    /// The part of the content to decode, relative to the envelope's payload. Default: all of it.
    public var part: PayloadPath? {
        get { values.part }
        _modify { yield &values.part }
    }

    /// Whether request bodies are compressed. Default false; see ``Request/compressesContent``.
    public var compressesContent: Bool? {
        get { values.compressesContent }
        _modify { yield &values.compressesContent }
    }
    /// Whether the client requests and decodes content codings. Default true; see ``Request/decodesContent``.
    public var decodesContent: Bool? {
        get { values.decodesContent }
        _modify { yield &values.decodesContent }
    }
    /// When a request asks the server before it sends its body (`Expect: 100-continue`). Default: never.
    public var continuePolicy: ContinuePolicy? {
        get { values.continuePolicy }
        _modify { yield &values.continuePolicy }
    }

    /// The parts of a request that are visible to the user. Default: all (indicator, accessories, error
    /// tips).
    public var presentation: Presentation? {
        get { values.presentation }
        _modify { yield &values.presentation }
    }
    /// The closures that accompany a request, unless its presentation excludes them. An endpoint's accessories are
    /// added to the client's.
    public var accessories: [Accessory] {
        get { values.accessories }
        _modify { yield &values.accessories }
    }
    /// Called with each request before anything is sent: its id identifies it in ``Client/cancel(_:)`` and in logs.
    /// Called again for each page of a list and each connection of an event source, on the transport's scheduler.
    /// Default: not called.
    ///
    /// ```swift
    /// client.request(GoodsList(keyword: "tea").with { $0.willStart = { request in loads.insert(request.id) } })
    /// ```
    public var willStart: (@Sendable (Request) -> Void)? {
        get { values.willStart }
        _modify { yield &values.willStart }
    }
    /// The tags by which ``Client/cancel(_:)`` finds requests, besides their URL and id, and
    /// ``ResponseCache/remove(_:)`` finds responses. An endpoint's tags are added to the client's.
    public var tags: Set<String> {
        get { values.tags }
        _modify { yield &values.tags }
    }
    /// The app's stages of the pipeline. An endpoint's interceptors come after the client's.
    public var interceptors: Interceptors {
        get { values.interceptors }
        _modify { yield &values.interceptors }
    }

    @CopyOnWrite private(set) var values: Values

    private static let none = RequestOptions(Values())

    private init(_ values: Values) { self.values = values }

    /// Creates options that all follow the client.
    public init() { self = .none }

    /// Creates options; an omitted option follows the client.
    public init(
        headers: Headers = [:], retry: RetryPolicy<NetworkError>? = nil, timeouts: Timeouts? = nil,
        hedging: Hedging? = nil, isIdempotent: Bool? = nil, server: Servers.Role? = nil,
        cachePolicy: CachePolicy? = nil, cacheMode: CacheMode? = nil, usesSession: Bool? = nil,
        usesCookies: Bool? = nil, isSigned: Bool? = nil, usesParameterRewriting: Bool? = nil,
        envelope: Envelope? = nil, contentTypes: ContentTypes? = nil, part: PayloadPath? = nil,
        compressesContent: Bool? = nil, decodesContent: Bool? = nil, continuePolicy: ContinuePolicy? = nil,
        presentation: Presentation? = nil, accessories: [Accessory] = [],
        willStart: (@Sendable (Request) -> Void)? = nil, tags: Set<String> = [],
        interceptors: Interceptors = Interceptors()
    ) {
        values = Values(
            headers: headers, retry: retry, timeouts: timeouts, hedging: hedging,
            isIdempotent: isIdempotent, server: server, cachePolicy: cachePolicy, cacheMode: cacheMode,
            usesSession: usesSession, usesCookies: usesCookies, isSigned: isSigned,
            usesParameterRewriting: usesParameterRewriting, envelope: envelope, contentTypes: contentTypes,
            part: part, compressesContent: compressesContent, decodesContent: decodesContent,
            continuePolicy: continuePolicy, presentation: presentation, accessories: accessories,
            willStart: willStart, tags: tags, interceptors: interceptors)
    }

    /// Whether every option follows the client.
    var isEmpty: Bool { _values.isShared(with: Self.none._values) || values.isEmpty }
}

extension RequestOptions: RedactedDescription {
    /// The header fields, as ``Headers`` shows them, and the tags.
    public var description: String {
        tags.isEmpty ? "\(headers)" : "\(headers), tags \(tags.sorted().joined(separator: ", "))"
    }
}

extension RequestOptions {
    /// All options as one value, which copies share.
    package struct Values: Sendable {
        // A new option needs a line in ``isEmpty`` and in ``over(_:)``, or values of it have no effect. If it changes
        // how a response is fetched or validated, ``CoalescingKey`` needs it, too.

        var headers: Headers = [:]
        var retry: RetryPolicy<NetworkError>?
        var timeouts: Timeouts?
        var hedging: Hedging?
        var isIdempotent: Bool?
        var server: Servers.Role?
        var cachePolicy: CachePolicy?
        var cacheMode: CacheMode?
        var usesSession: Bool?
        var usesCookies: Bool?
        var isSigned: Bool?
        var usesParameterRewriting: Bool?
        var envelope: Envelope?
        var contentTypes: ContentTypes?
        var part: PayloadPath?
        var compressesContent: Bool?
        var decodesContent: Bool?
        var continuePolicy: ContinuePolicy?
        var presentation: Presentation?
        var accessories: [Accessory] = []
        var willStart: (@Sendable (Request) -> Void)?
        var tags: Set<String> = []
        var interceptors = Interceptors()

        /// Whether every option follows the client: then ``Client/merged(_:)`` does not look at them.
        var isEmpty: Bool {
            headers.fields.isEmpty && retry == nil && timeouts == nil && hedging == nil && isIdempotent == nil
                && server == nil && cachePolicy == nil && cacheMode == nil && usesSession == nil
                && usesCookies == nil && isSigned == nil && usesParameterRewriting == nil && envelope == nil
                && contentTypes == nil && part == nil && compressesContent == nil && decodesContent == nil
                && continuePolicy == nil && presentation == nil && accessories.isEmpty && willStart == nil
                && tags.isEmpty && interceptors.isEmpty
        }

        /// These options, with `others` for every option left open here. Header fields are not merged:
        /// ``PreparedRequest`` adds those of the endpoint to the client's.
        func over(_ others: Self) -> Self {
            var options = self
            options.retry = retry ?? others.retry
            options.timeouts = timeouts ?? others.timeouts
            options.hedging = hedging ?? others.hedging
            options.isIdempotent = isIdempotent ?? others.isIdempotent
            options.server = server ?? others.server
            options.cachePolicy = cachePolicy ?? others.cachePolicy
            options.cacheMode = cacheMode ?? others.cacheMode
            options.usesSession = usesSession ?? others.usesSession
            options.usesCookies = usesCookies ?? others.usesCookies
            options.isSigned = isSigned ?? others.isSigned
            options.usesParameterRewriting = usesParameterRewriting ?? others.usesParameterRewriting
            options.envelope = envelope ?? others.envelope
            options.contentTypes = contentTypes ?? others.contentTypes
            options.part = part ?? others.part
            options.compressesContent = compressesContent ?? others.compressesContent
            options.decodesContent = decodesContent ?? others.decodesContent
            options.continuePolicy = continuePolicy ?? others.continuePolicy
            options.presentation = presentation ?? others.presentation
            if !others.accessories.isEmpty { options.accessories = others.accessories + accessories }
            options.willStart = willStart ?? others.willStart
            if !others.tags.isEmpty { options.tags.formUnion(others.tags) }
            if !others.interceptors.isEmpty {
                options.interceptors = others.interceptors.followed(by: interceptors)
            }
            return options
        }
    }
}

/// The options of an endpoint's calls, merged with the client's. Endpoints that set no options share those of
/// the client.
final class MergedOptions: Sendable {
    let values: RequestOptions.Values
    /// The content types that the endpoint accepts, if it specifies any.
    let ownContentTypes: ContentTypes?
    /// Whether the endpoint specifies how to validate its responses.
    let hasOwnValidation: Bool
    /// The interceptors that the endpoint adds, if any.
    let ownInterceptors: Interceptors?
    /// The header fields of the endpoint.
    let ownHeaders: Headers
    /// The features of the calls, apart from their observers. They decide which stages of ``Pipeline`` the calls have.
    let features: CallFeatures

    /// The options of requests built by hand, which follow no client.
    static let none = MergedOptions(RequestOptions(), over: RequestOptions())

    init(_ own: RequestOptions = RequestOptions(), over clients: RequestOptions) {
        values = own.values.over(clients.values)
        ownContentTypes = own.contentTypes
        hasOwnValidation = own.contentTypes != nil || own.envelope != nil
        ownInterceptors = own.interceptors.isEmpty ? nil : own.interceptors
        ownHeaders = own.headers
        var features: CallFeatures = []
        if (values.cachePolicy ?? .never) != .never { features.insert(.caching) }
        if values.timeouts?.total != nil || !values.interceptors.call.isEmpty { features.insert(.deadline) }
        if values.hedging?.isOn == true { features.insert(.hedging) }
        self.features = features
    }
}

extension Client {
    func merged(_ own: RequestOptions) -> MergedOptions {
        own.isEmpty ? options : MergedOptions(own, over: configuration.options)
    }
}
