/// The settings of developer tools, for requests that begin while something observes the client.
package struct DeveloperTools: Sendable, Equatable {
    /// The network to emulate. Default `nil`: the real one.
    package var network: EmulatedNetwork?
    /// Whether requests go to the server although a stored response could be used. Default false.
    package var isCacheDisabled = false

    /// Creates tools that change nothing.
    package init() {}
}

/// A network that is slower than the real one.
package struct EmulatedNetwork: Sendable, Equatable {
    /// Whether nothing can be sent.
    package var isOffline: Bool
    /// The time that is added before each exchange.
    package var latency: Duration
    /// The maximum number of bytes of a body per second; `nil` for no limit.
    package var downloadRate: Double?
    /// The maximum number of bytes of a request's body per second; `nil` for no limit.
    package var uploadRate: Double?

    /// Creates a network.
    package init(
        isOffline: Bool = false, latency: Duration = .zero, downloadRate: Double? = nil,
        uploadRate: Double? = nil
    ) {
        self.isOffline = isOffline
        self.latency = latency
        self.downloadRate = downloadRate
        self.uploadRate = uploadRate
    }
}

extension Client {
    /// The settings of developer tools.
    package var developerTools: DeveloperTools {
        get { trafficHub.tools }
        set { trafficHub.tools = newValue }
    }
}
