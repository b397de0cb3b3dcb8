public import RxClient
public import RxCurl

extension Client {
    /// Creates a client of a server that is reached over libcurl.
    ///
    /// ```swift
    /// let client = Client(baseURL: "https://api.example.com/v1")
    /// ```
    ///
    /// - Parameters:
    ///   - baseURL: what paths are relative to, over the configuration's own.
    ///   - configuration: how requests are made.
    ///   - transport: what carries them. Default: the one that all clients share, on its own event loop.
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
