public import RxLite

/// Carries requests to the network: the boundary between the pipeline and the network.
///
/// A transport turns a request into a cold stream; nothing else is required. Each subscription sends the
/// request once; cancelling closes the transfer; pausing the subscription holds back events, including the
/// head and the end, and stops reading from the network. Events arrive in the order of ``TransferEvent``'s
/// cases, on the transport's ``scheduler``.
///
/// A response of any status is a success here. The stream fails only without a complete response.
public protocol Transport: Sendable {
    /// The exchange that sends `request` unchanged, without following redirects.
    func send(_ request: Request) -> Observable<TransferEvent, NetworkError>

    /// The scheduler of the exchanges, whose clock retries and timeouts use. A transport that wraps another
    /// returns the scheduler of that transport.
    var scheduler: any Scheduler { get }

    /// The scheduler for a stream of requests to `origin`, as far as that is known. Default: ``scheduler``. A
    /// transport with several schedulers returns the one that suits best at the moment.
    func scheduler(for origin: Origin?) -> any Scheduler

    /// The hosts to reach over TLS only, which the transport also learns from responses. Default `nil`: http
    /// URLs are requested over http. A transport that wraps another returns the store of that transport, so
    /// that the layers above, such as cookies, see the URL that is requested.
    var hsts: HSTSStore? { get }

    /// The file system of downloads: that of the machine for a transport that reaches the network, files in memory for a
    /// simulated one. Default: none, so that each operation fails with ``NetworkError/Code/file``. A transport that
    /// wraps another returns the file system of that transport.
    var files: any FileSystem { get }

    /// The changes of the transport's connections, of those that are opened while there is a subscriber. Default: no
    /// event, as for a transport without connections. A transport that wraps another returns the events of that
    /// transport.
    var connections: Observable<ConnectionEvent, Never> { get }
}

extension Transport {
    /// ``scheduler``, for any origin.
    public func scheduler(for origin: Origin?) -> any Scheduler { scheduler }

    /// `nil`: http URLs are requested over http.
    public var hsts: HSTSStore? { nil }

    /// No file system.
    public var files: any FileSystem { AbsentFileSystem() }

    /// No event.
    public var connections: Observable<ConnectionEvent, Never> { .never() }
}
