import Foundation
import HTTPCases
import RxNetworking

/// One request of the run, and the processing of its response.
struct Exchange: Sendable {
    /// Sends the request and delivers the number of body bytes transferred.
    let bytes: Observable<Int, NetworkError>

    init(_ arguments: Arguments, over transport: CurlTransport) throws {
        let decoder = JSONDecoder()
        var request = Request(url: arguments.url)
        if arguments.kind == .post {
            request.method = .post
            request.body = .bytes(arguments.content)
        }
        if arguments.kind == .upload {
            request.method = .put
            request.body = .file(arguments.file)
        }
        let response = transport.send(request).response(to: request, decoder: decoder)
        bytes =
            switch arguments.kind {
            case .get, .waiting, .http2, .post: response.map { $0.body.count }
            case .typed: response.decode([Item].self).map { $0.count }
            case .discard:
                transport.send(request).reduce(0) { count, event in
                    if case .chunk(let bytes) = event { count + bytes.count } else { count }
                }
            case .download:
                transport.send(request).file(at: arguments.file, in: transport.files).last()
                    .map { Int($0.bytes) }
            case .upload: response.map { Int($0.metrics.bodyBytesSent) }
            }
    }
}
