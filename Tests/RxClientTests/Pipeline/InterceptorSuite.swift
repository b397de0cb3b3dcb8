import RxClient
import RxHTTP
import RxLite
import RxTesting

/// Tests of a client with interceptors, in virtual time.
protocol InterceptorSuite {
    var clock: VirtualScheduler { get }
}

extension InterceptorSuite {
    /// A client that retries after a second, unless configured otherwise.
    func client(
        _ reply: @escaping @Sendable (Request) -> ScriptedTransport.Reply,
        _ configure: (inout ClientConfiguration) -> Void
    ) -> (Client, ScriptedTransport) {
        let transport = ScriptedTransport(on: clock, reply: reply)
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.retry = .exponentialBackoff(backoff: .constant(.seconds(1)))
        configuration.files = MemoryFileSystem(on: clock)
        configure(&configuration)
        return (Client(configuration: configuration, transport: transport), transport)
    }

    /// The stream's events until no work is left.
    func run<T>(_ stream: Observable<T, NetworkError>) throws -> Recorder<T, NetworkError> {
        let recorder = Recorder(stream, on: clock)
        try clock.run()
        return recorder
    }
}
