import FoundationEssentials
import HTTPTypes
import RxCurl
import RxHTTP
import RxLite
import RxLoop

/// Runs `body` with a transport on a separate loop and ends the loop afterwards, which stops the process
/// unless every handle has been closed (`uv_loop_close` returns 0).
func withTransport<Result>(
    caBundlePath: String? = nil, configured configure: (inout CurlTransport.Configuration) -> Void = { _ in },
    _ body: (CurlTransport) async throws -> Result
) async throws -> Result {
    var configuration = CurlTransport.Configuration()
    // Regardless of the environment, these servers are on loopback.
    configuration.proxy = .none
    configuration.tls.caBundlePath = caBundlePath
    configure(&configuration)
    let loop = EventLoop(name: "test")
    defer { loop.shutDown() }
    return try await body(CurlTransport(loop: loop, configuration: configuration))
}

extension CurlTransport {
    /// The complete response, as a user gets it.
    func answer(to request: Request) async throws -> Response {
        try await send(request).response(to: request).value()
    }

    /// The complete response to a GET.
    func get(_ url: String) async throws -> Response { try await answer(to: .to(url)) }
}

extension Request {
    /// A request to a valid URL.
    static func to(_ url: String, method: HTTPRequest.Method = .get, body: Body = .empty) throws -> Request {
        guard let url = URL(string: url) else { throw URLError(text: url) }
        return Request(method: method, url: url, body: body)
    }
}

private struct URLError: Error { let text: String }
