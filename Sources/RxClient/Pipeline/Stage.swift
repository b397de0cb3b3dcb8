import RxHTTP
import RxLite

/// One place in the pipeline of a client, and who has it.
final class Stage: Sendable {
    let interceptor: any Interceptor
    /// The same, if it has to do with the events of one response only.
    let exchange: (any TransferStage)?
    /// Whether it is asked anew for each subscription, since it, or the stage before it, is a user's.
    let isDeferred: Bool
    let isUsers: Bool
    /// Whether it makes something of a response, and so has to do with one that no server has sent.
    let readsResponse: Bool

    init(_ interceptor: any Interceptor, isUsers: Bool = false, followsUsers: Bool = false) {
        self.interceptor = interceptor
        self.isUsers = isUsers
        isDeferred = isUsers || followsUsers
        exchange = interceptor as? any TransferStage
        readsResponse = interceptor is any ResponseStage
    }

    /// The name of its type.
    var name: String { "\(type(of: interceptor))" }
}

/// A stage of the client's own that makes something of the response.
protocol ResponseStage: Interceptor {}

/// A stage of the client's own around one exchange: it sees the events of one response, whatever the call is.
protocol TransferStage: Interceptor {
    /// The same as `intercept`, as events of the response.
    func transfers(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<TransferEvent, NetworkError>
}

extension TransferStage {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        transfers(request, in: call, next).map { .transfer($0) }
    }
}
