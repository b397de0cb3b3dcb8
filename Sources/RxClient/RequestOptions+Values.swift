import RxCache
import RxHTTP
import RxLite

extension RequestOptions {
    /// All options as one value, which copies share.
    package struct Values: Sendable {
        var headers: Headers = [:]
        var retry: RetryPolicy<NetworkError>?
        var timeouts: Timeouts?
        var hedging: Hedging?
        var isIdempotent: Bool?
        var server: ServerChoice?
        var cachePolicy: CachePolicy?
        var cacheMode: CacheMode?
        var usesSession: Bool?
        var usesCookies: Bool?
        var isSigned: Bool?
        var usesParameterRewriting: Bool?
        var envelope: Envelope?
        var contentTypes: ContentTypes?
        var part: PayloadPath?
        var compression: Compression?
        var decodesContent: Bool?
        var continuePolicy: ContinuePolicy?
        var presentation: Presentation?
        var accessories: [Accessory] = []
        var willStart: (@Sendable (Request) -> Void)?
        var tags: Set<String> = []
        var interceptors = Interceptors()

        /// Whether every option follows the client.
        var isEmpty: Bool {
            headers.fields.isEmpty && retry == nil && timeouts == nil && hedging == nil && isIdempotent == nil
                && server == nil && cachePolicy == nil && cacheMode == nil && usesSession == nil
                && usesCookies == nil && isSigned == nil && usesParameterRewriting == nil && envelope == nil
                && contentTypes == nil && part == nil && compression == nil && decodesContent == nil
                && continuePolicy == nil && presentation == nil && accessories.isEmpty && willStart == nil
                && tags.isEmpty && interceptors.isEmpty
        }

        /// These options, with `others` for every option left open here. Header fields are not merged.
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
            options.compression = compression ?? others.compression
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
