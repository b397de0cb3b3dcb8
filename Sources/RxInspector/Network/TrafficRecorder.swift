#if Inspector
import RxClient
import RxLite

/// Follows the traffic of clients, and tells front ends of it.
final class TrafficRecorder: Sendable {
    private let settings: Inspector.Settings

    init(_ settings: Inspector.Settings) { self.settings = settings }

    /// Follows the client's traffic.
    func inspect(_ client: Client) {}

    /// Follows nothing anymore.
    func stop() {}

    /// The result of a command of the Network domain.
    func answer(_ command: Command, of frontEnd: FrontEnd) async throws(Command.Failure) -> JSON {
        throw .unknownMethod(command.method)
    }

    /// Forgets a front end.
    func leave(_ frontEnd: FrontEnd) async {}
}
#endif
