#if Inspector
import FoundationEssentials
public import RxClient
public import RxHTTP
import RxLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

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
/// unless `showsSecrets` is set; the values of inspected streams are not. The inspector runs until
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
    ///   - port: the port on 127.0.0.1. Default 0: any free port.
    ///   - showsSecrets: whether the panel shows credentials, cookies and secret parameters. Default false: they are
    ///     redacted, as in a `HARRecording`. The page of streams never shows those of requests. Values of inspected streams
    ///     are never redacted.
    ///   - isListed: whether `/json/list` is served without the token, so that `chrome://inspect` finds the program by its
    ///     port. Default false, because any user of the machine could read the token there.
    ///   - requestsPerSecond: the number of requests shown each second, at least 1, and as many more at once after a pause;
    ///     `nil` for no limit. The panel and the page show how many were skipped. Default 500: more than anyone can read,
    ///     and few enough not to slow down a program that sends thousands.
    ///   - bodyLimit: the maximum number of bytes that are kept of each body. Default 1 MiB.
    ///   - memoryLimit: the approximate maximum number of bytes that are kept of all requests together: bodies, heads,
    ///     redirects and messages, for the panel three quarters of them, for the page and its archive the rest. Beyond it,
    ///     the oldest are dropped. Default 64 MiB.
    /// - Throws: `invalidConfiguration`, if it cannot listen on the port.
    @discardableResult
    public static func start(
        _ clients: Client..., port: UInt16 = 0, showsSecrets: Bool = false, isListed: Bool = false,
        requestsPerSecond: Int? = 500, bodyLimit: Int = 1 << 20, memoryLimit: Int = 64 << 20
    ) async throws(NetworkError) -> Inspector {
        let settings = Settings(
            port: port, showsSecrets: showsSecrets, isListed: isListed, requestsPerSecond: requestsPerSecond,
            bodyLimit: bodyLimit, memoryLimit: memoryLimit)
        return try await start(clients, settings)
    }

    static func start(_ clients: [Client], _ settings: Settings) async throws(NetworkError) -> Inspector {
        let inspector = try await Inspector(settings)
        for client in clients { inspector.inspect(client) }
        return inspector
    }

    init(
        _ settings: Settings, limits: InspectorLimits = InspectorLimits()
    ) async throws(NetworkError) {
        site = InspectorSite(settings, limits)
        do throws(NetworkError) {
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

extension Inspector {
    /// The settings of an inspector, as an app gives them when it starts one. The public functions that start one have
    /// the same defaults, and name them and the parts of the memory in their documentation.
    struct Settings: Sendable {
        var port: UInt16 = 0
        var showsSecrets = false
        var isListed = false
        var requestsPerSecond: Int? = 500
        var bodyLimit = 1 << 20
        var memoryLimit = 64 << 20

        /// The part for the page of streams.
        var rowMemoryLimit: Int { memoryLimit / 4 }
        /// The part for the panel.
        var logMemoryLimit: Int { memoryLimit - rowMemoryLimit }
    }
}

extension Inspector {
    /// Starts an inspector and prints its addresses to the standard error, if the environment variable `RX_INSPECTOR`
    /// asks for it.
    ///
    /// `1` starts it on a free port, a number from 1024 to 65535 on that port. An unset or empty variable, `0`, `off`,
    /// `false` and `no`, in either case, start nothing. Any other value is an error, so that a mistyped one neither starts
    /// a server nor goes unnoticed.
    ///
    /// ```swift
    /// try await Inspector.startIfAsked(client)
    /// ```
    ///
    /// - Parameters:
    ///   - clients: the clients. ``inspect(_:)`` adds more.
    ///   - showsSecrets: whether the panel shows credentials, cookies and secret parameters. Default false: they are
    ///     redacted, as in a `HARRecording`. The page of streams never shows those of requests. Values of inspected streams
    ///     are never redacted.
    ///   - isListed: whether `/json/list` is served without the token, so that `chrome://inspect` finds the program by its
    ///     port. Default false, because any user of the machine could read the token there.
    ///   - requestsPerSecond: the number of requests shown each second, at least 1, and as many more at once after a pause;
    ///     `nil` for no limit. The panel and the page show how many were skipped. Default 500: more than anyone can read,
    ///     and few enough not to slow down a program that sends thousands.
    ///   - bodyLimit: the maximum number of bytes that are kept of each body. Default 1 MiB.
    ///   - memoryLimit: the approximate maximum number of bytes that are kept of all requests together: bodies, heads,
    ///     redirects and messages, for the panel three quarters of them, for the page and its archive the rest. Beyond it,
    ///     the oldest are dropped. Default 64 MiB.
    /// - Returns: the inspector; `nil` if the variable does not ask for one.
    /// - Throws: `invalidConfiguration`, if the variable has another value, or the inspector cannot listen on the port.
    @discardableResult
    public static func startIfAsked(
        _ clients: Client..., showsSecrets: Bool = false, isListed: Bool = false,
        requestsPerSecond: Int? = 500, bodyLimit: Int = 1 << 20, memoryLimit: Int = 64 << 20
    ) async throws(NetworkError) -> Inspector? {
        let settings = Settings(
            showsSecrets: showsSecrets, isListed: isListed, requestsPerSecond: requestsPerSecond,
            bodyLimit: bodyLimit, memoryLimit: memoryLimit)
        return try await start(
            ifAskedBy: ProcessInfo.processInfo.environment["RX_INSPECTOR"], clients, settings: settings)
    }

    /// - Parameter value: the value of the environment variable; `nil` if it is not set.
    static func start(
        ifAskedBy value: String?, _ clients: [Client], settings: Settings
    ) async throws(NetworkError) -> Inspector? {
        var settings = settings
        switch value?.lowercased() ?? "" {
        case "", "0", "off", "false", "no": return nil
        case "1": settings.port = 0
        case let text:
            guard text.allSatisfy({ $0.isASCII && $0.isNumber }), let port = UInt16(text), port >= 1024 else {
                throw NetworkError(
                    .invalidConfiguration,
                    "RX_INSPECTOR is neither a port from 1024 on, nor 1 for a free one, nor 0: \(text)")
            }
            settings.port = port
        }
        let inspector = try await start(clients, settings)
        inspector.announce()
        return inspector
    }

    /// Prints the addresses to the standard error.
    private func announce() {
        let bytes = Array("\(self)\n".utf8)
        // A terminal that takes only a part of a few lines shows the part.
        _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
    }
}

/// The limits that only tests change.
struct InspectorLimits: Sendable {
    /// The time after which a browser is disconnected that reads nothing, or does not complete its request.
    var peerTimeout = Duration.seconds(15)
    /// The maximum number of bytes that wait for a browser.
    var outbox = 32 << 20
    /// The time that the texts of streams' values may take in a tenth of a second, instead of a share of it.
    var textTime: Duration?
}
#endif
