/// The settings of developer tools, for requests that begin while something observes the client.
package struct DeveloperTools: Sendable, Equatable {
    /// The network to emulate. Default `nil`: the real one.
    package var network: EmulatedNetwork?
    /// Whether requests go to the server although a stored response could be used. Default false.
    package var isCacheDisabled: Bool

    /// Creates settings. The default ones change nothing.
    package init(network: EmulatedNetwork? = nil, isCacheDisabled: Bool = false) {
        self.network = network
        self.isCacheDisabled = isCacheDisabled
    }

    /// Combines the settings of several tools: the last emulated network applies, and the cache is disabled if one of them
    /// disables it.
    package init(combining all: some Sequence<DeveloperTools>) {
        self.init()
        for tools in all {
            network = tools.network ?? network
            isCacheDisabled = isCacheDisabled || tools.isCacheDisabled
        }
    }
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
    /// The settings of all developer tools together.
    package var developerTools: DeveloperTools { trafficHub.tools }

    /// Replaces the settings of one of the developer tools, and leaves those of the others. A change of the network
    /// applies to running exchanges, too; disabling the cache, to requests that begin afterwards.
    ///
    /// - Parameters:
    ///   - tools: the settings; the default ones withdraw the former settings.
    ///   - owner: the developer tools.
    package func apply(_ tools: DeveloperTools, of owner: AnyObject) { trafficHub.apply(tools, of: owner) }
}
