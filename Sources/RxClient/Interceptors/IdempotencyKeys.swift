import FoundationEssentials
public import HTTPTypes
public import RxHTTP
public import RxLite

/// Adds an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header) to each call that must not be
/// executed twice, the same for all its attempts, so that it can be retried like any other.
///
/// ```swift
/// configuration.options.interceptors.call.append(IdempotencyKeys())
/// ```
///
/// Place it around the call. A key that the request already has stays.
public struct IdempotencyKeys: Interceptor {
    private let methods: Set<HTTPRequest.Method>
    private let makeKey: @Sendable () -> String

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - methods: the methods that get a key. Default: POST and PATCH.
    ///   - makeKey: makes a key. Default: a random UUID.
    public init(
        for methods: Set<HTTPRequest.Method> = [.post, .patch],
        makeKey: (@Sendable () -> String)? = nil
    ) {
        self.methods = methods
        self.makeKey = makeKey ?? { RandomSource.uuid().uuidString }
    }

    /// Proceeds with a key.
    public func intercept(
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
