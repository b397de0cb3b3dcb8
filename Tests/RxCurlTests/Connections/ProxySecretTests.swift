import RxCurl
import RxHTTP
import RxLoop
import TestServers
import Testing

/// The password of a proxy is in no error and in no printed text.
@Suite(.timeLimit(.minutes(1))) struct ProxySecretTests {
    @Test(arguments: [
        "http://anna:cAnArY7@nothing.invalid:80", "anna:cAnArY7@nothing.invalid",
        "http://anna:cAnArY7@127.0.0.1:1",
        "odd://anna:cAnArY7@127.0.0.1", "http://anna:cAnArY7@", "http://anna:cAnArY7@[::zz]:9",
        "http://anna:cAnArY7@127.0.0.1:999999", "socks5://anna:cAnArY7@127.0.0.1:1",
        "http://anna:cAnArY7@a b",
        "http://cAnArY7@127.0.0.1:1",
    ])
    func isShownNowhere(proxy: String) async throws {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = Proxy(proxy)
        let loop = EventLoop(name: "test")
        defer { loop.shutDown() }
        let transport = CurlTransport(loop: loop, configuration: configuration)
        let log = try await Recording(transport.send(try .to("http://a.invalid/"))).ended()
        let error = try #require(log.error)
        var dumped = ""
        dump(configuration, to: &dumped)
        dump(error, to: &dumped)
        for text in [
            "\(error)", error.message, "\(configuration)", String(reflecting: configuration), dumped,
        ] {
            #expect(!text.contains("cAnArY7"), "\(text)")
        }
    }
}
