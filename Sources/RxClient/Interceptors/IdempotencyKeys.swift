import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite

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
