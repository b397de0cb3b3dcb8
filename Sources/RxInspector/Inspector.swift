#if Inspector
public import RxClient
public import RxHTTP
import RxLite

/// Shows the requests of clients in a browser, while the program runs: a server for the Network panel of Chrome's
/// developer tools, and for a page of its streams.
///
/// ```swift
/// let inspector = try await Inspector.start(client)
/// print(inspector)
/// ```
///
/// Open the printed addresses in a browser. The server listens on loopback only, its addresses contain a random
/// token, and it rejects requests from other sites' pages. Secret header fields, parameters and cookies are redacted
/// unless ``Settings/showsSecrets`` is set; the values of inspected streams are not. The inspector runs until
/// ``stop()`` or the end of the process, and does not keep clients alive. Safe from any thread.
public final class Inspector: Sendable {
    /// The address of the Network panel in Chrome's developer tools. Paste it into the address bar: Chrome does not
    /// follow links to it.
    public let devToolsURL: String
    /// The address of the page of streams, for any browser.
    public let pageURL: String
    /// The address of the WebSocket for programs that speak the DevTools protocol.
    public let webSocketURL: String

    let site: InspectorSite
    private let server: InspectorServer
    /// The port on 127.0.0.1.
    var port: UInt16 { server.port }

    /// Starts a server that shows the requests that the clients make from now on.
    ///
    /// - Parameters:
    ///   - clients: the clients. ``inspect(_:)`` adds more.
    ///   - settings: the settings of the server.
    /// - Throws: ``StartError``, if the port is not free.
    @discardableResult
    public static func start(
        _ clients: Client..., settings: Settings = Settings()
    ) async throws(StartError) -> Inspector {
        let inspector = try await Inspector(settings)
        for client in clients { inspector.inspect(client) }
        return inspector
    }

    init(
        _ settings: Settings, limits: InspectorLimits = InspectorLimits()
    ) async throws(StartError) {
        site = InspectorSite(settings, limits)
        do throws(StartError) {
            server = try await InspectorServer(site)
        } catch {
            site.stop()
            throw error
        }
        let authority = "127.0.0.1:\(server.port)"
        site.open(at: authority)
        pageURL = "http://\(authority)/\(site.token)/"
        webSocketURL = "ws://\(site.socket(at: authority))"
        devToolsURL = site.devToolsURL(at: authority)
    }

    /// Inspects the requests that the client makes from now on. Does nothing if the client is already inspected, or
    /// after ``stop()``.
    ///
    /// - Parameters:
    ///   - client: the client.
    ///   - name: the client's name on the page of streams. Default: the name of its server. Equal names are numbered.
    public func inspect(_ client: Client, named name: String? = nil) { site.inspect(client, named: name) }

    /// Closes the server and its connections, and returns when they are closed. Clients are no longer inspected or
    /// throttled.
    public func stop() async {
        site.stop()
        await server.stop()
    }
}

extension Inspector: RedactedDescription {
    /// The addresses to open, with the token, for the terminal of the developer.
    public var description: String {
        """
        Network panel (paste it into Chrome's address bar): \(devToolsURL)
        Streams: \(pageURL)
        """
    }

    /// The port only, because logs should not contain the token.
    public var debugDescription: String { "Inspector on port \(server.port)" }
}
#endif
