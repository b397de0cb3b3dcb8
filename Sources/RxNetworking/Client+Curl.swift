public import RxClient
public import RxCurl
import RxHTTP

extension Client {
    /// Creates a client that sends its requests over libcurl.
    ///
    /// ```swift
    /// var configuration = ClientConfiguration(baseURL: "https://api.example.com/v1")
    /// configuration.options.timeouts = Timeouts(total: .seconds(20))
    /// let client = Client(configuration: configuration)
    /// ```
    ///
    /// - Parameters:
    ///   - configuration: how requests are made, and the base URL of their paths.
    ///   - transport: the transport that sends them. Default: the one that all clients share, on its own event loop.
    public convenience init(configuration: ClientConfiguration, transport: CurlTransport = .shared) {
        var configuration = configuration
        configuration.files = configuration.files ?? transport.files
        self.init(configuration: configuration, transport: transport as any Transport)
    }

    /// Creates a client that uses libcurl.
    ///
    /// ```swift
    /// let client = Client(baseURL: "https://api.example.com/v1")
    /// ```
    ///
    /// - Parameters:
    ///   - baseURL: the URL that paths are relative to; replaces the base URL of the configuration.
    ///   - configuration: the configuration of the client's requests.
    ///   - transport: the transport. Default: the one that all clients share, with a separate event loop.
    public convenience init(
        baseURL: String, configuration: ClientConfiguration = ClientConfiguration(),
        transport: CurlTransport = .shared
    ) {
        var configuration = configuration
        configuration.baseURL = baseURL
        self.init(configuration: configuration, transport: transport)
    }
}
