public import RxHTTP
public import RxLite

extension Observable where Failure == NetworkError {
    /// Fails with `unreachable`, without starting the stream, while the machine has no network; `unknown`
    /// counts as reachable. Checks at each subscription.
    ///
    /// - Parameters:
    ///   - reachability: the source of the network status. `nil` disables the check.
    ///   - request: the request, for the error.
    public func checkReachability(
        by reachability: (any Reachability)?, of request: Request? = nil
    ) -> Observable {
        guard let reachability else { return self }
        return Observable(scheduler: scheduler) { observer in
            guard observer.scope.isOpen else { return }
            guard reachability.status.isReachable else {
                return observer.fail(.unreachable(request))
            }
            self.subscribe(observer)
        }
    }
}

extension NetworkError {
    static func unreachable(_ request: Request?) -> NetworkError {
        NetworkError(.unreachable, "no network is available; nothing was sent", request: request)
    }
}
