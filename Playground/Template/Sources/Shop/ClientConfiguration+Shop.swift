import RxNetworking

extension ClientConfiguration {
    /// How the app talks to the shop at `baseURL`.
    package static func shop(at baseURL: String) -> ClientConfiguration {
        var configuration = ClientConfiguration(baseURL: baseURL)
        configuration.options.retry = .exponentialBackoff(maxRetries: 3)
        configuration.options.timeouts = Timeouts(total: .seconds(20))
        return configuration
    }
}
