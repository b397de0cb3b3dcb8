public import RxHTTP
public import RxLite

extension Observable where Element == EventSourceUpdate {
    /// Only the events.
    public func messages() -> Observable<ServerSentEvent, Failure> {
        compactMap { update in
            if case .message(let event) = update { event } else { nil }
        }
    }
}
