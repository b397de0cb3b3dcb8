public import RxLite

/// A carrier of requests: the seam between the pipeline and the network.
///
/// The one thing a transport must do is to turn a request into a cold stream. Each subscription sends the
/// request once; cancelling closes the transfer; pausing the subscription holds events back, the head and the
/// end included, and stops reading from the network. Events come in the order of ``TransferEvent``'s cases,
/// on the transport's ``scheduler``.
///
/// A response of any status is a success here. The stream fails only without a complete response.
public protocol Transport: Sendable {
    /// The exchange that sends `request`, as it stands, without following redirects.
    func send(_ request: Request) -> Observable<TransferEvent, NetworkError>

    /// What the exchanges run on, and whose clock retries and timeouts keep. A transport around another
    /// names that one's.
    var scheduler: any Scheduler { get }

    /// The same for a stream of requests to `origin`, as far as that is known. Default: ``scheduler``.
    /// A transport with several schedulers names the one that suits best at the moment.
    func scheduler(for origin: Origin?) -> any Scheduler

    /// The hosts that this transport reaches over TLS only, and that it learns from responses. Default `nil`: http URLs
    /// are sent to as they are. A transport around another has that one's, so that what stands above it, such as
    /// cookies, sees the URL that is sent to.
    var hsts: HSTSStore? { get }
}

extension Transport {
    /// ``scheduler``, for any origin.
    public func scheduler(for origin: Origin?) -> any Scheduler { scheduler }

    /// None.
    public var hsts: HSTSStore? { nil }
}
