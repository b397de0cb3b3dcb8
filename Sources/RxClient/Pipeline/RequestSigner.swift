public import FoundationEssentials
public import RxHTTP
public import RxLite

/// Signs requests directly before they are sent.
///
/// The signer is the last stage that changes a request, except for the fields of tracers, which are not signed: it sees
/// the fields of interceptors and the cookies. Each exchange is signed anew: each retry, each hedge, each attempt at
/// the standby server and each hop of a redirect. The earlier stages see the request without its signature, so an old
/// signature is never sent again.
///
/// ```swift
/// struct DatedKey: RequestSigner {
///     let key: String
///
///     func sign(_ request: Request, in context: SigningContext) -> Observable<Request, NetworkError> {
///         var request = request
///         request.headerFields[HTTPField.Name("X-Key")!] = "\(key) \(Int(context.date.timeIntervalSince1970))"
///         return .just(request)
///     }
/// }
/// configuration.signer = DatedKey(key: key)
/// ```
///
/// Everything that the signer adds to a request is secret: logs, exports and errors do not show it.
///
/// ``Signature`` adds a rule's fields or parameters earlier, once for each attempt, and before the session's credential.
public protocol RequestSigner: Sendable {
    /// The request with its signature: one value, then completion. Subscribed to once for each exchange.
    ///
    /// The stream may wait, for example for a credential. Its failure is that of the attempt. The pipeline calls this on
    /// the client's scheduler; it must not block.
    ///
    /// - Parameters:
    ///   - request: the request as it would be sent. Change a copy of it; a new request would lose id, timeouts and the
    ///     marks of its secrets. A change of the origin fails with `invalidURL`.
    ///   - context: the time and the surroundings of the exchange.
    func sign(_ request: Request, in context: SigningContext) -> Observable<Request, NetworkError>

    /// Inspects the head of each final response to a signed request, for example for a nonce or the server's time.
    ///
    /// Default: false.
    ///
    /// - Parameters:
    ///   - head: the status and the header fields of the response.
    ///   - request: the request with its signature.
    ///   - context: the context in which the request was signed, with the date of the response.
    /// - Returns: whether to drop this response and send the request once more, with a new signature. Each exchange is
    ///   repeated once at most, and not if its body can be sent only once.
    func receive(_ head: ResponseHead, to request: Request, in context: SigningContext) -> Bool

    /// Whether requests to an origin outside of the client's servers are signed, such as the target of a redirect.
    ///
    /// Default: false. Requests to the origins of the client's servers are always signed, unless the endpoint opts out
    /// (``RequestOptions/isSigned``) or a redirect has led to another origin in between.
    func signsRequests(to origin: Origin) -> Bool
}

extension RequestSigner {
    /// False: the response is passed on.
    public func receive(_ head: ResponseHead, to request: Request, in context: SigningContext) -> Bool {
        false
    }

    /// False: only requests to the client's servers are signed.
    public func signsRequests(to origin: Origin) -> Bool { false }
}

/// A signer that can sign most requests at once, without a stream.
package protocol ImmediateSigner: RequestSigner {
    /// Signs the request as ``RequestSigner/sign(_:in:)`` would, if there is nothing to wait for.
    ///
    /// - Returns: whether it is signed; if not, it is unchanged, and a stream signs it.
    func signNow(_ request: inout Request, in context: SigningContext) throws(NetworkError) -> Bool
}

/// The surroundings of an exchange, for a ``RequestSigner``.
public struct SigningContext: Sendable {
    /// The current date, by the clock of the transport.
    public var date: Date
    /// The scheduler of the exchange. A signer that waits uses its clock.
    public var scheduler: any Scheduler
    /// The transport of the client, for requests that the signer itself needs, such as for a credential.
    public var transport: any Transport
    /// Whether this is the exchange for which ``RequestSigner/receive(_:to:in:)`` has asked.
    public var isRepeated: Bool

    /// Creates a context.
    public init(
        date: Date, scheduler: any Scheduler, transport: any Transport, isRepeated: Bool = false
    ) {
        self.date = date
        self.scheduler = scheduler
        self.transport = transport
        self.isRepeated = isRepeated
    }

    /// The file system of bodies that are read from files.
    public var files: any FileSystem { transport.files }
}
