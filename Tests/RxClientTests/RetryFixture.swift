import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Testing

/// A client with scripted responses, in virtual time, which waits one second before each of two retries.
struct RetryFixture {
    typealias Reply = ScriptedTransport.Reply

    let clock = VirtualScheduler()
    /// The reference for dates in `Retry-After`.
    static let now = Date(timeIntervalSince1970: 784_111_777)

    func callAsFunction(
        _ answers: [Reply], retry: RetryPolicy<NetworkError> = everySecond(), within total: Duration? = nil
    ) -> (Client, ScriptedTransport) {
        let transport = ScriptedTransport(on: clock, replies: answers)
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.retry = retry
        configuration.options.timeouts = Timeouts(total: total)
        return (Client(configuration: configuration, transport: transport), transport)
    }

    static func everySecond(
        _ maxRetries: Int = 2, maxDelay: Duration = .seconds(60)
    ) -> RetryPolicy<NetworkError> {
        .exponentialBackoff(
            maxRetries: maxRetries, backoff: .constant(.seconds(1)), maxDelay: maxDelay,
            currentDate: { now })
    }

    /// An error that leads to a retry.
    func transient() throws -> NetworkError {
        NetworkError(.connectionLost, "", request: Request(url: try #require(URL(string: "http://a.test"))))
    }
}

typealias Script = ScriptedTransport.Script
