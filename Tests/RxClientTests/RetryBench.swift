import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Testing

/// A client that is answered by a script, in virtual time, and waits one second before each of two retries.
struct RetryBench {
    typealias Reply = ScriptedTransport.Reply

    let clock = VirtualScheduler()
    /// What `Retry-After` dates are measured against.
    static let now = Date(timeIntervalSince1970: 784_111_777)

    func callAsFunction(
        _ answers: [Reply], retry: RetryPolicy<NetworkError> = everySecond(), within total: Duration? = nil
    ) -> (Client, ScriptedTransport) {
        let script = Script(answers)
        let transport = ScriptedTransport(on: clock) { _ in script.next() }
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.retry = retry
        configuration.options.timeouts = Timeouts(total: total)
        return (Client(configuration: configuration, transport: transport), transport)
    }

    static func everySecond(
        _ maxRetries: Int = 2, maxDelay: Duration = .seconds(30)
    ) -> RetryPolicy<NetworkError> {
        .exponentialBackoff(
            maxRetries: maxRetries, backoff: .constant(.seconds(1)), maxDelay: maxDelay,
            currentDate: { now })
    }

    /// An error after which a request is sent again.
    func transient() throws -> NetworkError {
        NetworkError(.connectionLost, "", request: Request(url: try #require(URL(string: "http://a.test"))))
    }
}

typealias Script = ScriptedTransport.Script
