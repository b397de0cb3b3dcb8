import FoundationEssentials
import HTTPTypes
import RxCurl
import RxHTTP
import TestServers
import Testing

/// The metrics in the finished event of a transfer.
@Suite(.timeLimit(.minutes(1))) struct MetricsTests {
    private let server: NginxServer

    init() throws { server = try .shared() }

    private static func times(_ metrics: TransferMetrics) -> [Duration] {
        [metrics.sent, metrics.firstByte, metrics.total]
    }

    @Test(arguments: [false, true]) func aNewConnectionAndOneThatIsUsedAgain(isTLS: Bool) async throws {
        let url = (isTLS ? server.tlsBaseURL : server.baseURL) + "/json"
        try await withTransport(caBundlePath: server.certificatePath) { transport in
            let first = try await transport.get(url).metrics
            #expect(!first.isConnectionReused)
            #expect(first.connected > .zero)
            #expect(first.resolved <= first.connected)
            #expect((first.secured > first.connected) == isTLS)
            #expect(Self.times(first) == Self.times(first).sorted())
            #expect(first.sent >= first.connected)
            #expect(first.queued == .zero)
            let second = try await transport.get(url).metrics
            #expect(second.isConnectionReused)
            #expect([second.resolved, second.connected, second.secured] == [.zero, .zero, .zero])
            #expect(second.total > .zero)
            #expect(Self.times(second) == Self.times(second).sorted())
            for metrics in [first, second] {
                #expect(metrics.remoteAddress == "127.0.0.1")
                #expect(metrics.remotePort == Int(isTLS ? server.tlsPort : server.port))
                #expect(metrics.localPort == first.localPort)
                #expect(metrics.localPort > 0)
                let isHTTP2 = isTLS && LibcurlFeatures.running.version >= .init(8, 4)
                #expect(metrics.httpVersion == (isHTTP2 ? .http2 : .http11))
            }
        }
    }

    @Test func theAddressIsThatOfEachConnection() async throws {
        let other = try RawServer { _ in [.respond()] }
        try await withTransport { transport in
            for (url, port) in [(server.baseURL, server.port), (other.baseURL, other.port)] {
                let metrics = try await transport.get(url + "/json").metrics
                #expect(metrics.remotePort == Int(port))
            }
        }
    }

    @Test(arguments: [0, 1, 1000, 1 << 20]) func bytesOfBothBodies(count: Int) async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n"
        let bytes = Array(NginxServer.large.prefix(count))
        let raw = try RawServer { _ in [.send(head), .send(bytes)] }
        try await withTransport { transport in
            let request = try Request.to(raw.baseURL, method: .put, body: .bytes(bytes))
            let metrics = try await transport.answer(to: request).metrics
            #expect(metrics.bodyBytesSent == count)
            #expect(metrics.bodyBytesReceived == count)
            #expect(metrics.bodyBytesDecoded == count)
            #expect(metrics.headBytesReceived == head.utf8.count)
            #expect(Self.times(metrics) == Self.times(metrics).sorted())
        }
    }

    @Test func whatWasCompressed() async throws {
        let metrics = try await withTransport { transport in
            try await transport.get(server.baseURL + "/text").metrics
        }
        #expect(metrics.bodyBytesDecoded == NginxServer.text.utf8.count)
        #expect(metrics.bodyBytesReceived > 0)
        #expect(metrics.bodyBytesReceived < NginxServer.text.utf8.count / 10)
    }
}
