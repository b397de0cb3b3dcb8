import HTTPTypes
public import RxHTTP
public import RxLite

/// Verifies streamed bodies against the digests that the server sends (RFC 9530): `Content-Digest`, and
/// `Repr-Digest` if the body is the whole representation. A body with another digest fails with
/// `digestMismatch`.
///
/// ```swift
/// configuration.options.interceptors.exchange.append(ContentDigestVerification())
/// ```
///
/// Place it around exchanges. It requests SHA-256 and SHA-512 digests and disables content coding, because
/// digests cover the bytes on the wire. A body that is coded nevertheless, or has no digest, counts as
/// unverified. Stored responses with `Vary: Accept-Encoding` are not reused, because the cache does not know
/// about the changed field.
public struct ContentDigestVerification: Interceptor {
    private let isRequired: Bool

    /// Creates an interceptor.
    ///
    /// - Parameter isRequired: whether an unverified body of a successful response fails with
    ///   `digestMismatch`. Default false.
    public init(isRequired: Bool = false) { self.isRequired = isRequired }

    /// Proceeds, and verifies the body as it arrives.
    public func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard request.method != .head else { return next(request) }
        var asking = request
        asking.headerFields[.wantContentDigest] = "sha-256=10, sha-512=5"
        asking.headerFields[.wantReprDigest] = "sha-256=10, sha-512=5"
        asking.headerFields[.acceptEncoding] = "identity"
        let body = BodyVerification(of: request, isRequired: isRequired)
        return next(asking).map { event throws(NetworkError) in
            if case .transfer(let transfer) = event { try body.take(transfer) }
            return event
        }
    }
}

extension HTTPField.Name {
    fileprivate static let wantContentDigest = HTTPField.Name("Want-Content-Digest")!
    fileprivate static let wantReprDigest = HTTPField.Name("Want-Repr-Digest")!
}
