public import RxClient
import RxCurl
import RxHTTP

extension Client {
    /// Creates a client that sends its requests over libcurl, by the transport that all clients share
    /// (`CurlTransport.shared`).
    ///
    /// ```swift
    /// var configuration = ClientConfiguration(baseURL: "https://api.example.com/v1")
    /// configuration.options.timeouts = Timeouts(total: .seconds(20))
    /// let client = Client(configuration: configuration)
    /// ```
    ///
    /// - Parameter configuration: how requests are made, and the base URL of their paths.
    public convenience init(configuration: ClientConfiguration) {
        self.init(configuration: configuration, transport: CurlTransport.shared)
    }

    /// Creates a client that sends its requests over libcurl, by the transport that all clients share.
    ///
    /// ```swift
    /// let client = Client(baseURL: "https://api.example.com/v1")
    /// ```
    ///
    /// - Parameter baseURL: the URL that paths are relative to.
    public convenience init(baseURL: String) {
        // Separate, so that the compiler names the right label where it is missing.
        self.init(baseURL: baseURL, configuration: ClientConfiguration())
    }

    /// Creates a client that sends its requests over libcurl, by the transport that all clients share.
    ///
    /// - Parameters:
    ///   - baseURL: the URL that paths are relative to; replaces the base URL of the configuration.
    ///   - configuration: the configuration of the client's requests.
    public convenience init(baseURL: String, configuration: ClientConfiguration) {
        self.init(baseURL: baseURL, configuration: configuration, transport: CurlTransport.shared)
    }
}
