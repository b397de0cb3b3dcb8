import FoundationEssentials
public import HTTPTypes
public import RxHTTP
public import RxLite

/// An interceptor that the library provides.
///
/// ```swift
/// configuration.options.interceptors.call.append(.idempotencyKeys())
/// ```
public struct BuiltInInterceptor: Interceptor {
    /// The interceptor in the list of the pipeline.
    let interceptor: any Interceptor

    /// Runs the interceptor.
    public func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        interceptor.intercept(request, in: call, next)
    }
}

extension BuiltInInterceptor: RedactedDescription {
    /// The name of the interceptor's type, by which a printed pipeline shows it.
    public var description: String { "\(type(of: interceptor))" }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Adds an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header) to each call that must not be
    /// executed twice, the same for all its attempts, so that it can be retried like any other.
    ///
    /// ```swift
    /// configuration.options.interceptors.call.append(.idempotencyKeys())
    /// ```
    ///
    /// Place it around the call. A key that the request already has stays.
    ///
    /// - Parameters:
    ///   - methods: the methods that get a key. Default: POST and PATCH.
    ///   - makeKey: makes a key. Default: a random UUID.
    public static func idempotencyKeys(
        for methods: Set<HTTPRequest.Method> = [.post, .patch], makeKey: (@Sendable () -> String)? = nil
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(interceptor: IdempotencyKeys(for: methods, makeKey: makeKey))
    }

    /// Sets a header field to a value that may change at run time, such as the app's language.
    ///
    /// ```swift
    /// configuration.options.interceptors.call.append(.dynamicHeader("Accept-Language") { language.value })
    /// ```
    ///
    /// Around the call, the value is read once, and all attempts have the same; around attempts, it is read for each of
    /// them. A secret field (``ClientConfiguration/secretFields``) is not sent to another origin than the client's.
    ///
    /// - Parameters:
    ///   - name: the name of the field.
    ///   - value: returns the value; `nil` leaves the field as the options have it. Called on the client's scheduler;
    ///     it must not block. An invalid value fails the request with `invalidHeader`.
    public static func dynamicHeader(
        _ name: String, value: @escaping @Sendable () -> String?
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(interceptor: DynamicHeader(name, value: value))
    }

    /// Sends no more requests to a server than its responses allow: excess requests wait, in order of arrival.
    ///
    /// ```swift
    /// configuration.options.interceptors.attempt.append(.serverRateLimits())
    /// ```
    ///
    /// It reads `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers), their predecessors
    /// `RateLimit-Remaining` and `X-RateLimit-Remaining` with `-Reset` and `-Limit`, and the `Retry-After` of 429
    /// and 503 (RFC 9110 §10.2.3). Place it around attempts, and use it with one client only.
    ///
    /// - Parameter longestWait: the longest wait. A request that would have to wait longer, or longer than
    ///   ``Timeouts/queue``, fails with `queueTimeout`; at once if that is certain. Default 60 s.
    public static func serverRateLimits(longestWait: Duration = .seconds(60)) -> BuiltInInterceptor {
        BuiltInInterceptor(interceptor: ServerRateLimiter(longestWait: longestWait))
    }

    /// Verifies streamed bodies against the digests that the server sends (RFC 9530): `Content-Digest`, and
    /// `Repr-Digest` if the body is the whole representation. A body with another digest fails with
    /// `digestMismatch`.
    ///
    /// ```swift
    /// configuration.options.interceptors.exchange.append(.contentDigestVerification())
    /// ```
    ///
    /// Place it around exchanges. It requests SHA-256 and SHA-512 digests and disables content coding, because
    /// digests cover the bytes on the wire. A body that is coded nevertheless, or has no digest, counts as
    /// unverified. Stored responses with `Vary: Accept-Encoding` are not reused, because the cache does not know
    /// about the changed field.
    ///
    /// - Parameter isRequired: whether an unverified body of a successful response fails with
    ///   `digestMismatch`. Default false.
    public static func contentDigestVerification(isRequired: Bool = false) -> BuiltInInterceptor {
        BuiltInInterceptor(interceptor: ContentDigestVerification(isRequired: isRequired))
    }
}

// MARK: - Those of a few lines

/// The interceptor ``Interceptor/dynamicHeader(_:value:)``.
struct DynamicHeader: Interceptor {
    private let name: String
    private let value: @Sendable () -> String?

    init(_ name: String, value: @escaping @Sendable () -> String?) {
        self.name = name
        self.value = value
    }

    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        let isSecret = HTTPField.Name(name).map { request.redaction.hides($0) } ?? false
        let carriesSecrets = call.prepared.carriesCredentials && !request.isCredentialFree
        guard carriesSecrets || !isSecret, let value = value() else { return next(request) }
        var request = request
        do throws(NetworkError) { try request.setField(name, to: value) } catch { return .fail(error) }
        return next(request)
    }
}

/// The interceptor ``Interceptor/idempotencyKeys(for:makeKey:)``.
struct IdempotencyKeys: Interceptor {
    private let methods: Set<HTTPRequest.Method>
    private let makeKey: @Sendable () -> String

    init(for methods: Set<HTTPRequest.Method>, makeKey: (@Sendable () -> String)?) {
        self.methods = methods
        self.makeKey = makeKey ?? { RandomSource.uuid().uuidString }
    }

    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard methods.contains(request.method), request.headerFields[.idempotencyKey] == nil else {
            return next(request)
        }
        var request = request
        // A string of a structured field (RFC 9651 §3.3.3).
        let key = makeKey()
        do throws(NetworkError) { try request.setField("Idempotency-Key", to: "\"\(key)\"") } catch {
            return .fail(error)
        }
        return next(request)
    }
}
