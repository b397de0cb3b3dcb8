public import RxClient
public import RxCurl

extension Client {
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
        configuration.files = configuration.files ?? transport.files
        self.init(configuration: configuration, transport: transport)
    }
}
