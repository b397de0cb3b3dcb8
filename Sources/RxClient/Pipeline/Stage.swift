import RxHTTP
import RxLite

/// One stage in the pipeline of a client, and its owner.
final class Stage: Sendable {
    let interceptor: any Interceptor
    /// The same stage for the events of one response, if it handles only those and can be called at once.
    let transfers: (@Sendable (Request, CallContext, Next) -> Observable<TransferEvent, NetworkError>)?
    /// Whether the stage is called for each subscription, because it, or the stage before it, is the app's.
    let isDeferred: Bool
    let isUsers: Bool
    /// Whether the stage processes responses, including those that no server has sent.
    let readsResponse: Bool

    init(_ interceptor: any Interceptor, isUsers: Bool = false, followsUsers: Bool = false) {
        self.interceptor = interceptor
        self.isUsers = isUsers
        isDeferred = isUsers || followsUsers
        if !isDeferred, let stage = interceptor as? any TransferStage {
            transfers = { request, call, next in stage.transfers(request, in: call, next) }
        } else {
            transfers = nil
        }
        readsResponse = interceptor is any ResponseStage
    }

    /// The name of its type.
    var name: String { "\(type(of: interceptor))" }
}

/// A stage of the client that processes the response.
protocol ResponseStage: Interceptor {}

/// A stage of the client around one exchange: it sees the events of one response, for every kind of call.
protocol TransferStage: Interceptor {
    /// Like `intercept`, with the events of the response.
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
