public import FoundationEssentials
public import HTTPTypes
package import RxJSON

/// A complete response. Copies share its parts until one of them is changed.
public struct Response: Sendable {
    /// Status and header fields.
    public var head: ResponseHead {
        @inlinable get { parts.head }
        set { parts.head = newValue }
    }
    /// The informational responses before the final one, such as 103 with links to preload, in order.
    public var interim: [ResponseHead] {
        get { parts.interim }
        _modify { yield &parts.interim }
    }
    /// The decoded body.
    public var body: [UInt8] {
        @inlinable get { parts.body }
        _modify {
            yield &parts.body
            // Both are places in the former body.
            parts.payload = nil
            parts.serverMessage = nil
        }
    }
    /// The fields received after the body (RFC 9110 §6.5).
    public var trailers: HTTPFields {
        get { parts.trailers }
        _modify { yield &parts.trailers }
    }
    /// The request of this response; after redirects, the last one.
    public var request: Request {
        @inlinable get { parts.request }
        _modify { yield &parts.request }
    }
    /// The metrics of the transfer.
    public var metrics: TransferMetrics {
        get { parts.metrics }
        set { parts.metrics = newValue }
    }
    /// Whether redirects led to this response.
    public var isRedirected: Bool {
        get { parts.isRedirected }
        set { parts.isRedirected = newValue }
    }
    /// How a cache contributed; `nil` for the server's own response to this request.
    public var cacheUse: CacheUse? {
        @inlinable get { parts.cacheUse }
        set { parts.cacheUse = newValue }
    }

    /// The path of the content in the JSON body, outermost key first; empty for the whole body. Set by the
    /// envelope, read by decoding.
    public var payloadPath: [String] {
        @inlinable get { parts.payloadPath }
        set {
            parts.payloadPath = newValue
            parts.payload = nil
        }
    }
    /// The part of the body at ``payloadPath``, once it has been located.
    package var payload: JSONPart? {
        get { parts.payload }
        set { parts.payload = newValue }
    }
    /// The part of the body with the message of the opened envelope.
    package var serverMessage: JSONPart? {
        get { parts.serverMessage }
        set { parts.serverMessage = newValue }
    }
    /// The content types that may be decoded; `nil` if the type has been checked or does not matter.
    package var decodableTypes: ContentTypes? {
        get { parts.decodableTypes }
        set { parts.decodableTypes = newValue }
    }
    /// The JSON decoder of the client.
    public var decoder: JSONDecoder {
        @inlinable get { parts.decoder }
        set { parts.decoder = newValue }
    }

    @usableFromInline var storage: CopyOnWrite<Parts>
    @inlinable var parts: Parts {
        _read { yield storage.wrappedValue }
        _modify { yield &storage.wrappedValue }
    }

    @usableFromInline
    struct Parts: Sendable {
        @usableFromInline var head: ResponseHead
        @usableFromInline var body: [UInt8]
        @usableFromInline var request: Request
        @usableFromInline var cacheUse: CacheUse?
        @usableFromInline var payloadPath: [String] = []
        @usableFromInline var decoder: JSONDecoder
        var metrics: TransferMetrics
        var interim: [ResponseHead] = []
        var trailers = HTTPFields()
        var isRedirected = false
        var payload: JSONPart?
        var serverMessage: JSONPart?
        var decodableTypes: ContentTypes?
    }

    /// Creates a response.
    public init(
        head: ResponseHead, body: [UInt8] = [], request: Request,
        metrics: TransferMetrics = TransferMetrics(),
        decoder: JSONDecoder = JSONDecoder()
    ) {
        storage = CopyOnWrite(
            wrappedValue: Parts(
                head: head, body: body, request: request, decoder: decoder, metrics: metrics))
    }

    /// The status code and reason.
    @inlinable public var status: HTTPResponse.Status { parts.head.status }

    /// Whether the response is a 204 or 205, which have no content (RFC 9110 §15.3.5, §15.3.6), and its body
    /// is empty.
    package var hasNoContent: Bool { body.isEmpty && (status == .noContent || status == .resetContent) }

    /// The URL of the last request.
    public var url: URL { request.url }

    /// Whether the body comes from a cache.
    public var isFromCache: Bool {
        switch cacheUse {
        case .fresh, .revalidated, .stale: true
        case .joined, nil: false
        }
    }

    /// The body as UTF-8 text; invalid bytes show as U+FFFD.
    public var text: String { String(decoding: body, as: UTF8.self) }
}

// Names that other libraries give to the parts of a response, for which the compiler suggests those of RxHTTP.

extension Response {
    /// Unavailable: use ``body``.
    @available(*, unavailable, renamed: "body")
    public var data: [UInt8] { body }

    /// Unavailable: use ``status``.
    @available(*, unavailable, renamed: "status.code")
    public var statusCode: Int { status.code }

    /// Unavailable: use ``ResponseHead/headerFields``.
    @available(*, unavailable, renamed: "head.headerFields")
    public var headers: HTTPFields { head.headerFields }
}

extension Response {
    /// How a cache contributed to a response.
    public enum CacheUse: String, Sendable, Hashable {
        /// A stored response, fresh enough to be used without a request.
        case fresh
        /// A stored response that the server confirmed with a 304.
        case revalidated
        /// A stale stored response, used while a newer one is being fetched, because the server failed, or
        /// because the request allows it.
        case stale
        /// The server's response to an equal request that was already in flight.
        case joined
    }
}

extension Response: RedactedDescription {
    /// One line: status, URL without user info, query and fragment, the request's id, size of the body.
    public var description: String {
        "\(status.code) \(request.redactedURL?.absoluteString ?? "…") \(request.id), \(body.count) bytes"
    }
}
