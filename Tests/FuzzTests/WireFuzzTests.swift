import FoundationEssentials
import RxCurl
import RxHTTP
import RxLite
import RxLoop
import RxTesting
import TestServers
import Testing

/// Malformed responses on the wire, through the running libcurl: each transfer ends, and none crashes.
///
/// Each malformed response follows a valid one on the same connection and, if this libcurl allows it, on the same
/// easy handle. The tests set `MALLOC_PERTURB_`, with which libcurl crashes if it uses freed memory; therefore
/// they run in separate processes. `FUZZ_RUNS` and `FUZZ_SEED` are those of ``FuzzTests``.
@Suite(.timeLimit(.minutes(5))) struct WireFuzzTests {
    @Test func http1() async {
        await #expect(processExitsWith: .success) {
            let server = try RawServer { request in
                guard let index = Int(request.target.dropFirst()) else {
                    return [.respond(200, ["A": "1", "B": "2"], body: "well")]
                }
                return [.send(WireFuzz.input(index)), .close]
            }
            try await WireFuzz.run(on: server)
        }
    }
}

private enum WireFuzz {
    static let runs = FuzzTests.runs / 4

    /// Requests a valid and a malformed response in each run.
    static func run(on server: RawServer) async throws {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        configuration.httpVersion = .http1
        let loop = EventLoop(name: "fuzz")
        defer { loop.shutDown() }
        let transport = CurlTransport(loop: loop, configuration: configuration)
        var failures = 0
        for index in 0..<runs {
            for path in ["/", "/\(index)"] {
                guard let url = URL(string: server.baseURL + path) else { continue }
                var request = Request(url: url)
                request.timeouts.attempt = .seconds(30)
                do {
                    _ = try await transport.send(request).response(to: request).value()
                } catch {
                    failures += 1
                    #expect(path != "/" && error.code != .attemptTimeout, "\(index): \(error)")
                }
            }
        }
        // Neither are all responses still valid nor is everything refused.
        #expect(failures > 0 && failures < runs, "\(failures)")
    }

    static func input(_ index: Int) -> [UInt8] {
        var random = SeededRandom(FuzzTests.seed &+ UInt64(index))
        let input = responses.randomElement(using: &random) ?? []
        let alphabet =
            Bool.random(using: &random) ? Array(" \t\r\n:;,0aF\0".utf8) : Array(UInt8.min...UInt8.max)
        return input.mutated(by: &random, alphabet: alphabet)
    }

    static let responses = [
        "HTTP/1.1 200 OK\r\n folded\r\nContent-Length: 4\r\n\r\nwell",
        "HTTP/1.1 200 OK\r\nA: b\r\n\tc\r\nContent-Length: 4\r\n\r\nwell",
        "HTTP/1.1 103 Early\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n c\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwell\r\n3;a=b\r\nend\r\n0\r\nT: 1\r\n 2\r\n\r\n",
        "HTTP/1.0 401 No\r\nWWW-Authenticate: Digest realm=\"a\", nonce=\"b\"\r\nConnection: close\r\n\r\nno",
        "HTTP/1.1 302 Found\nLocation: /\nSet-Cookie: a=b; Path=/\nContent-Length: 0\n\n",
        "HTTP/1.1 204 None\r\nAlt-Svc: h3=\":443\"\r\nKeep-Alive: timeout=5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip, identity\r\nContent-Length: 2\r\n\r\n\u{1F}x",
        "HTTP/1.1 200 OK\r\nA: " + String(repeating: "x", count: 5000) + "\r\n\r\nuntil the end",
    ].map { Array($0.utf8) }
}
