#if Auth
public import FoundationEssentials
import HTTPTypes
public import RxClient
public import RxHTTP
public import RxLite

extension Client {
    /// A URL that carries its own signature, so that others can send the request without a key, for a limited time.
    ///
    /// ```swift
    /// let link = try client.presigned(.get("/bucket/{key...}", at: ["key": key]), for: .seconds(900))
    /// ```
    ///
    /// The signature covers method, host, path and query, and the header fields of the endpoint's options, which must
    /// then be sent with the same values. Content is not covered for S3; for other services the URL is valid for the
    /// endpoint's content only. Nothing is sent. A URL made with temporary keys expires with them.
    ///
    /// ``presigning(_:for:)`` waits for credentials that must be fetched first.
    ///
    /// - Parameters:
    ///   - endpoint: the endpoint, at the client's base URL.
    ///   - duration: how long the URL is valid, in whole seconds: one second to seven days.
    /// - Throws: `invalidConfiguration` if the client's signer is not an ``AWSSigner``; ``RxHTTP/NetworkError/Code/noCredentials``
    ///   if no credential is at hand; `invalidParameters` for another duration, and the errors of
    ///   ``RxClient/Client/serialized(_:)``.
    public func presigned(_ endpoint: some Endpoint, for duration: Duration) throws(NetworkError) -> URL {
        let (signer, date) = (try awsSigner, transport.scheduler.currentDate)
        guard let credential = signer.credentials.current(at: date) else {
            throw signer.credentials.absence
                ?? NetworkError(
                    .noCredentials,
                    "no AWS credential has been fetched yet; use presigning(_:for:), which fetches one")
        }
        return try presigned(endpoint, for: duration, by: signer, credential, at: date)
    }

    /// The URL of ``presigned(_:for:)``, once the credential has been fetched: one value, then completion.
    public func presigning(
        _ endpoint: some Endpoint, for duration: Duration
    ) -> Observable<URL, NetworkError> {
        .deferred { [self] () throws(NetworkError) in
            let signer = try awsSigner
            let scheduler = transport.scheduler
            let context = SigningContext(
                date: scheduler.currentDate, scheduler: scheduler, transport: transport)
            return signer.credentials.credential(in: context).map { [self] credential throws(NetworkError) in
                try presigned(endpoint, for: duration, by: signer, credential, at: scheduler.currentDate)
            }
        }
    }

    private var awsSigner: AWSSigner {
        get throws(NetworkError) {
            guard let signer = configuration.signer as? AWSSigner else {
                throw NetworkError(
                    .invalidConfiguration, "presigned URLs need a client whose signer is .aws(…)")
            }
            return signer
        }
    }

    private func presigned(
        _ endpoint: some Endpoint, for duration: Duration, by signer: AWSSigner, _ credential: AWSCredential,
        at date: Date
    ) throws(NetworkError) -> URL {
        let seconds = duration.components.seconds
        guard (1...604_800).contains(seconds) else {
            throw NetworkError(
                .invalidParameters,
                "a presigned URL is valid for one second to seven days, not for \(seconds) s")
        }
        let serialized = try serialized(endpoint)
        var request = Request(method: serialized.method, url: serialized.url, body: serialized.body)
        for field in endpoint.options.headers.fields {
            if let name = HTTPField.Name(field.name) {
                request.headerFields[name] = serialized.headerFields[name]
            }
        }
        let (signingDate, key) = try signer.signing(by: credential, at: date)
        let query = try signer.scheme.presignedQuery(
            request.method.rawValue, try AWSTarget(of: request), request.headerFields, expiry: Int(seconds),
            payload: try payload(of: request, signer.scheme), by: credential, at: signingDate, with: key)
        let text = serialized.url.absoluteString
        let urlWithoutQuery = text.prefix { $0 != "?" && $0 != "#" }
        guard let url = URL(string: urlWithoutQuery + "?" + query) else {
            throw NetworkError(.invalidURL, "the presigned URL is not valid", request: serialized)
        }
        return url
    }

    private func payload(
        of request: Request, _ scheme: AWSSigningScheme
    ) throws(NetworkError) -> String {
        guard !scheme.isS3 else { return AWSSigningScheme.unsignedPayload }
        switch request.body {
        case .empty: return AWSSigningScheme.emptyPayload
        case .bytes(let bytes): return bytes.sha256Text
        case .streamed:
            throw NetworkError(
                .invalidParameters, "a URL cannot be presigned for streamed content of this service",
                request: request)
        }
    }
}
#endif
