import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxParameters
import Synchronization

/// Sends the requests of one transfer: those of the endpoint's origin as the endpoint's own, with the account's credential,
/// and all others without any secret.
struct TransferSender: Sendable {
    let client: Client
    /// The URL of the endpoint, without a signature.
    let url: URL
    private let method: HTTPRequest.Method
    private let options: RequestOptions
    private let fields: Headers
    /// Whether the endpoint's request may be sent twice.
    let isRepeatable: Bool
    /// The digest of the endpoint's method and URL; stored as the record's target. Not the content's identity.
    let targetID: String

    /// - Throws: the errors of the endpoint's request, and `invalidParameters` if it has a body of its own.
    init(_ endpoint: some Endpoint, of client: Client) throws(NetworkError) {
        let request = try client.serialized(endpoint.with { $0.isSigned = false })
        guard request.body.isEmpty else {
            throw NetworkError(
                .invalidParameters, "the endpoint has a body, but its content is that of the upload",
                request: request)
        }
        self.client = client
        url = request.url
        method = request.method
        var options = endpoint.options
        // Interruptions are the transfer's own matter.
        options.retry = .never
        options.compressesContent = false
        options.usesParameterRewriting = false
        options.presentation = .hidden
        fields = options.headers
        options.headers = [:]
        self.options = options
        isRepeatable = endpoint.isRepeatable
        targetID = HexDigest.sha256("\(request.method.rawValue) \(request.url.absoluteString)".utf8)
    }

    /// The URL that a request goes to, without the request's own parameters.
    func url(of target: UploadRequest.Target) -> URL {
        switch target {
        case .endpoint: url
        case .url(let named): named
        }
    }

    /// The events of a request. A status that is no success fails with `status`.
    func send(_ request: UploadRequest, _ body: Body) -> Observable<TransferEvent, NetworkError> {
        switch request.target {
        case .endpoint: return send(request, body, to: url, isToEndpoint: true)
        case .url(let named):
            guard Origin(named) == Origin(url) else { return sendElsewhere(request, body, to: named) }
            return send(request, body, to: named, isToEndpoint: false)
        }
    }

    /// Sends a request and ignores its outcome.
    func sendDetached(_ request: UploadRequest) {
        send(request, request.body.isEmpty ? .empty : .bytes(request.body))
            .subscribe(onNext: { _ in }, onFailure: { _ in })
    }

    private func send(
        _ request: UploadRequest, _ body: Body, to target: URL, isToEndpoint: Bool
    ) -> Observable<TransferEvent, NetworkError> {
        // The options of all requests: `init` has turned off retries and compression, and taken the header fields out.
        var options = options
        var headers = headers(of: request, isToEndpoint: isToEndpoint)
        for field in request.fields { headers[field.name.rawName] = field.value }
        if !body.isEmpty, headers[HTTPField.Name.contentType.rawName] == nil {
            headers[HTTPField.Name.contentType.rawName] = "application/octet-stream"
        }
        options.headers = headers
        let address = target.absoluteString.adding(request.query)
        let endpoint = InlineEndpoint(
            request.method ?? method, address, .body(body), options: options)
        return client.stream(endpoint)
    }

    /// The endpoint's header fields that a request may have: those about the content and the new upload go with the
    /// creation alone, and conditions with the request that makes the resource. For S3 and for joined uploads of tus
    /// that is the last one.
    private func headers(of request: UploadRequest, isToEndpoint: Bool) -> Headers {
        let isCreation = isToEndpoint && request.kind == .creation
        // The creation of a multipart upload has a query, and that of a partial upload `Upload-Concat`.
        let makesResource = isCreation && request.query.isEmpty && request.fields[.uploadConcat] == nil
        let isConditional = request.kind == .completion || makesResource
        return Headers(
            fields.fields.filter { field in
                let name = field.name.lowercased()
                if name == "if-match" || name == "if-none-match" { return isConditional }
                return isCreation || !Self.isOfCreation(name)
            })
    }

    /// Whether a header field, in lower case, is about the content or the new upload.
    private static func isOfCreation(_ name: String) -> Bool {
        if name.hasPrefix("content-") || name.hasPrefix("upload-") { return true }
        return name.hasPrefix("x-amz-") && !lasting.contains { name.hasPrefix($0) }
    }

    /// The fields of S3 that all requests of an upload have.
    private static let lasting = [
        "x-amz-server-side-encryption-customer-", "x-amz-request-payer", "x-amz-expected-bucket-owner",
    ]

    /// Sends a request to another origin, which gets nothing but what the protocol needs.
    private func sendElsewhere(
        _ request: UploadRequest, _ body: Body, to named: URL
    ) -> Observable<TransferEvent, NetworkError> {
        guard let target = URL(string: named.absoluteString.adding(request.query)) else {
            return .fail(NetworkError(.invalidURL, "the place of the upload is no URL"))
        }
        var plain = Request(method: request.method ?? method, url: target, headerFields: request.fields)
        plain.body = body
        plain.timeouts = options.timeouts ?? client.configuration.options.timeouts ?? plain.timeouts
        plain.isCredentialFree = true
        let sent = plain
        return .deferred(on: client.transport.scheduler) {
            let gathering = RefusalGathering(sent)
            return client.exchange(sent, usesCookies: false).compactMap { event throws(NetworkError) in
                try gathering.take(event)
            }
        }
    }
}

/// Turns a response with an error status into a failure, as the client's `stream` does for the endpoint's origin.
private final class RefusalGathering: Sendable {
    private struct State {
        var refusal: ResponseHead?
        var body: [UInt8] = []
    }

    /// The number of bytes of an error's body from which on no chunk is kept.
    private static let limit = 1 << 20
    private let request: Request
    private let state = Mutex(State())

    init(_ request: Request) { self.request = request }

    func take(_ event: TransferEvent) throws(NetworkError) -> TransferEvent? {
        try state.withLock { state throws(NetworkError) in try take(event, &state) }
    }

    private func take(_ event: TransferEvent, _ state: inout State) throws(NetworkError) -> TransferEvent? {
        if case .head(let head) = event, head.status.kind != .successful { state.refusal = head }
        guard let refusal = state.refusal else { return event }
        switch event {
        case .chunk(let bytes): if state.body.count < Self.limit { state.body += bytes }
        case .finished:
            var error = NetworkError(
                .status, "the server responded with status \(refusal.status.code)", request: request)
            error.head = refusal
            error.body = state.body
            throw error
        default: break
        }
        return nil
    }
}

extension String {
    /// The URL with parameters added to its query.
    fileprivate func adding(_ query: [String: String]) -> String {
        guard !query.isEmpty else { return self }
        let parts = split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let base = String(parts.first ?? "")
        let pairs = query.sorted { $0.key < $1.key }.map { name, value in
            let name = name.addingQueryEscapes
            return value.isEmpty ? name : name + "=" + value.addingQueryEscapes
        }
        let joint = base.contains("?") ? (base.hasSuffix("?") || base.hasSuffix("&") ? "" : "&") : "?"
        return base + joint + pairs.joined(separator: "&")
    }

    /// The text with everything escaped but the unreserved characters (RFC 3986 §2.3).
    private var addingQueryEscapes: String {
        utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                String(UnicodeScalar(byte))
            default:
                "%" + String(byte >> 4, radix: 16, uppercase: true)
                    + String(byte & 15, radix: 16, uppercase: true)
            }
        }
        .joined()
    }
}
