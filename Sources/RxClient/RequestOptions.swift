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
    public var headers: Headers = [:]
    /// The retry policy. Default: two retries with growing waits, for requests that may be repeated.
    public var retry: RetryPolicy<NetworkError>?
    /// The timeouts of each phase. Default: the default values of ``Timeouts``.
    public var timeouts: Timeouts?
    /// When a second attempt is sent in parallel to a slow one. Default: never.
    public var hedging: Hedging?
    /// Whether a request may be repeated although its method does not guarantee that. Default false.
    public var isIdempotent: Bool?
    /// The server of the service that requests go to. Default: the active one.
    public var server: ServerChoice?

    /// Which responses are stored and reused. Default: none.
    public var cachePolicy: CachePolicy?
    /// How a request uses the cache. Default: as the policy says.
    public var cacheMode: CacheMode?

    /// Whether a request carries the session's credential. Default true; a login never does.
    public var usesSession: Bool?
    /// Whether a request carries the jar's cookies, and the jar stores the cookies of its response. Default
    /// true.
    public var usesCookies: Bool?
    /// Whether ``ClientConfiguration/signature`` signs a request. Default true.
    public var isSigned: Bool?
    /// Whether ``ClientConfiguration/rewriteParameters`` applies. Default true.
    public var usesParameterRewriting: Bool?

    /// The envelope of a response. Default ``Envelope/absent``.
    public var envelope: Envelope?
    /// The accepted content types; others fail with `contentType`. Default: the JSON types if the output is
    /// decoded, otherwise all types. A response without a content type is accepted.
    public var contentTypes: ContentTypes?
    /// The part of the content to decode, relative to the envelope's payload. Default: all of it.
    public var part: PayloadPath?

    /// The compression of request bodies. Default: none.
    public var compression: Compression?
    /// Whether the client requests and decodes content codings. Default true; see ``Request/decodesContent``.
    public var decodesContent: Bool?
    /// When a request asks the server before it sends its body (`Expect: 100-continue`). Default: never.
    public var continuePolicy: ContinuePolicy?

    /// The parts of a request that are visible to the user. Default: all (indicator, accessories, error
    /// tips).
    public var presentation: Presentation?
    /// The tags by which ``Client/cancel(_:)`` finds requests, besides their URL and id, and
    /// ``ResponseCache/remove(_:)`` finds responses. An endpoint's tags are added to the client's.
    public var tags: Set<String> = []
    /// The app's stages of the pipeline. An endpoint's interceptors come after the client's.
    public var interceptors = Interceptors()

    /// Creates options; an omitted option follows the client.
    public init(
        headers: Headers = [:], retry: RetryPolicy<NetworkError>? = nil, timeouts: Timeouts? = nil,
        hedging: Hedging? = nil, isIdempotent: Bool? = nil, server: ServerChoice? = nil,
        cachePolicy: CachePolicy? = nil, cacheMode: CacheMode? = nil, usesSession: Bool? = nil,
        usesCookies: Bool? = nil, isSigned: Bool? = nil, usesParameterRewriting: Bool? = nil,
        envelope: Envelope? = nil, contentTypes: ContentTypes? = nil, part: PayloadPath? = nil,
        compression: Compression? = nil, decodesContent: Bool? = nil, continuePolicy: ContinuePolicy? = nil,
        presentation: Presentation? = nil, tags: Set<String> = [],
        interceptors: Interceptors = Interceptors()
    ) {
        self.headers = headers
        self.retry = retry
        self.timeouts = timeouts
        self.hedging = hedging
        self.isIdempotent = isIdempotent
        self.server = server
        self.cachePolicy = cachePolicy
        self.cacheMode = cacheMode
        self.usesSession = usesSession
        self.usesCookies = usesCookies
        self.isSigned = isSigned
        self.usesParameterRewriting = usesParameterRewriting
        self.envelope = envelope
        self.contentTypes = contentTypes
        self.part = part
        self.compression = compression
        self.decodesContent = decodesContent
        self.continuePolicy = continuePolicy
        self.presentation = presentation
        self.tags = tags
        self.interceptors = interceptors
    }

    /// Whether every option follows the client.
    var isEmpty: Bool {
        headers.fields.isEmpty && retry == nil && timeouts == nil && hedging == nil && isIdempotent == nil
            && server == nil && cachePolicy == nil && cacheMode == nil && usesSession == nil
            && usesCookies == nil && isSigned == nil && usesParameterRewriting == nil && envelope == nil
            && contentTypes == nil && part == nil && compression == nil && decodesContent == nil
            && continuePolicy == nil && presentation == nil && tags.isEmpty && interceptors.isEmpty
    }

    /// These options, with `others` for every option left open here. Header fields are not merged.
    func over(_ others: RequestOptions) -> RequestOptions {
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
        options.compression = compression ?? others.compression
        options.decodesContent = decodesContent ?? others.decodesContent
        options.continuePolicy = continuePolicy ?? others.continuePolicy
        options.presentation = presentation ?? others.presentation
        if !others.tags.isEmpty { options.tags.formUnion(others.tags) }
        if !others.interceptors.isEmpty {
            options.interceptors = others.interceptors.followed(by: interceptors)
        }
        return options
    }
}

extension RequestOptions: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The header fields, as ``Headers`` shows them, and the tags.
    public var description: String {
        tags.isEmpty ? "\(headers)" : "\(headers), tags \(tags.sorted().joined(separator: ", "))"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Empty, so that `dump` shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
