import RxHTTP
import RxLite

/// Decides which of the service's servers an attempt goes to, and goes to the standby server where the main one does not
/// respond, by the rules of ``Failover``.
struct ServerSelection: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        let (prepared, client) = (call.prepared, call.client)
        // What an interceptor has sent elsewhere carries nothing of the service's.
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
            to: atStandby, through: client.servers, mayProbe: request.isRepeatable, trace: call.trace)
    }
}
