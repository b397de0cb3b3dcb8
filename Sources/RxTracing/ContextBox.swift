#if Tracing
import RxLite
import Tracing

/// The service context of a subscription.
final class ContextBox: Sendable {
    let context: ServiceContext

    private init(_ context: ServiceContext) { self.context = context }

    /// Keeps the service context of each subscription from now on.
    static func capture() {
        Lane.captureContext { ServiceContext.current.map { ContextBox($0) } }
    }

    /// The context of the subscription of a lane.
    static func context(in lane: Lane) -> ServiceContext {
        (lane.context as? ContextBox)?.context ?? .topLevel
    }
}
#endif
