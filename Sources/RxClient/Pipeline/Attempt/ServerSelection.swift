import RxHTTP
import RxLite

/// Chooses the server of an attempt, and switches to the standby server when the main one does not respond,
/// by the rules of ``Failover``.
struct ServerSelection: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        let (prepared, client) = (call.prepared, call.client)
        // A request that an interceptor has redirected to another origin carries no data of the service.
        let isElsewhere = request.isCredentialFree && Origin(request.url) != prepared.servers.main.origin
        guard prepared.isAtService, !isElsewhere else {
            return next.at(nil, Origin(request.url).map { client.hosts[$0] })(request)
        }
        let main = prepared.servers.main
        let atMain = next.at(main, main.host)(request)
        guard let standby = prepared.servers.standby else { return atMain }
        let atStandby = next.at(standby, standby.host)(request)
        guard prepared.server == .active, call.kind != .response else {
            return .deferred(on: call.scheduler) {
                client.servers.role(for: prepared.server) == .main ? atMain : atStandby
            }
        }
        return atMain.failover(
            to: atStandby, through: client.servers, mayProbe: request.isRepeatable,
            isOverdue: { call.isOverdue }, trace: call.trace)
    }
}
