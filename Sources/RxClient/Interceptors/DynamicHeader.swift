import HTTPTypes
import RxHTTP
import RxLite

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
