import HTTPTypes
public import RxHTTP
public import RxLite

/// Sets a header field to a value that may change at run time, such as the app's language.
///
/// ```swift
/// configuration.options.interceptors.call.append(DynamicHeader("Accept-Language") { language.value })
/// ```
///
/// Around the call, the value is read once, and all attempts have the same; around attempts, it is read for each of them.
/// A secret field (``ClientConfiguration/secretFields``) is not sent to another origin than the client's.
public struct DynamicHeader: Interceptor {
    private let name: String
    private let value: @Sendable () -> String?

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - name: the name of the field.
    ///   - value: returns the value; `nil` leaves the field as the options have it. Called on the client's scheduler; it
    ///     must not block. An invalid value fails the request with `invalidHeader`.
    public init(_ name: String, value: @escaping @Sendable () -> String?) {
        self.name = name
        self.value = value
    }

    /// Proceeds with the field.
    public func intercept(
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
