import RxNetworking

#if Inspector
import RxInspector
import Synchronization

/// Shows the requests of the tour's clients in the developer tools of a browser.
enum Inspection {
    private static let current = Mutex<Inspector?>(nil)

    /// Starts the inspector and returns its addresses.
    static func start() async throws -> String {
        let inspector = try await Inspector.start()
        current.withLock { $0 = inspector }
        return "\(inspector)"
    }

    /// Shows the client's requests under a name, if the inspector runs.
    static func inspect(_ client: Client, named name: String) {
        current.withLock { $0 }?.inspect(client, named: name)
    }
}
#else
/// The place of the inspector in a build without it.
enum Inspection {
    private struct Missing: Error, CustomStringConvertible {
        var description: String { "this build has no inspector; Playground/run.sh --inspect builds it" }
    }

    static func start() async throws -> String { throw Missing() }

    static func inspect(_ client: Client, named name: String) {}
}
#endif
