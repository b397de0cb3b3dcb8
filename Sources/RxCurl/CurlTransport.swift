internal import CLibcurl
internal import HTTPTypes
public import RxHTTP
public import RxLite
public import RxLoop
import Synchronization

/// Carries requests over libcurl, on one event loop.
///
/// All transfers of one transport share its connections. Redirects are not followed, cookies not kept; see
/// ``Transport``.
///
/// ```swift
/// let transport = CurlTransport(loop: .shared)
/// transport.send(Request(url: url)).subscribe(onNext: { event in … })
/// ```
///
/// Threads: everything from anywhere. Events are delivered on the loop.
public final class CurlTransport: Transport {
    /// The transport that clients share unless they are given another, on the process's own loop.
    public static let shared = CurlTransport(loop: .shared)

    /// The loop that everything happens on.
    public let loop: EventLoop
    /// What all transfers have in common.
    public let configuration: Configuration
    let multi: Multi

    /// Creates a transport; connections and curl's handles are made when the first request is sent.
    public init(loop: EventLoop, configuration: Configuration = Configuration()) {
        self.loop = loop
        self.configuration = configuration
        multi = Multi(on: loop, configuration: configuration)
        multi.closeWithLoop()
    }

    deinit {
        // Transfers and observables hold the transport: none is left. Nothing is to be done if the loop has
        // ended, since it closed the multi handle then.
        _ = loop.post { [multi] in multi.perform(.close) }
    }

    /// The libcurl that runs, which may be another than the one compiled against (`curl_version_info`).
    public static let libcurlVersion: (major: Int, minor: Int, patch: Int) = {
        // The first member of any age of the structure: 8.4.0 is 0x080400.
        guard let info = unsafe curl_version_info(CURLVERSION_FIRST) else { return (0, 0, 0) }
        let number = unsafe Int(info.pointee.version_num)
        return (number >> 16 & 0xFF, number >> 8 & 0xFF, number & 0xFF)
    }()

    /// The loop.
    public var scheduler: any Scheduler { loop }

    /// The machine's files, on the transport's loop.
    public var files: LoopFileSystem { LoopFileSystem(loop: loop) }

    /// The exchange that sends `request` once per subscription.
    ///
    /// Fails with ``NetworkError/Code/invalidURL``, ``NetworkError/Code/invalidHeader`` or
    /// ``NetworkError/Code/invalidParameters`` (content with HEAD) before anything is sent.
    public func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        Observable(scheduler: loop) { [self] observer in start(request, observer) }
    }

    /// Ends what runs with ``NetworkError/Code/shutDown``, closes all connections and frees everything.
    /// Whatever is sent afterwards fails with the same. The loop's own shutdown does this too.
    ///
    /// Returns at once; it happens on the loop.
    public func shutDown() {
        _ = loop.post { [multi] in multi.perform(.close) }
    }

    /// Runs in the observer's lane, on the subscriber's thread.
    private func start(_ request: Request, _ observer: Observer<TransferEvent, NetworkError>) {
        guard observer.scope.isOpen else { return }
        let target: Target
        do throws(NetworkError) {
            target = try Target(of: request)
            if request.method == .head, !request.body.isEmpty {
                throw NetworkError(.invalidParameters, "HEAD carries no content", request: request)
            }
        } catch {
            var error = error
            error.isUnsent = true
            return observer.scope.perform { [error] in observer.fail(error) }
        }
        switch (request.body, request.compression) {
        case (.empty, _): begin(request, .none, to: target, observer)
        case (.bytes(let bytes), let compression) where compression == .none || bytes.isEmpty:
            begin(request, TransferContent(bytes), to: target, observer)
        default: open(request, to: target, observer)
        }
    }

    /// Finds out what there is to send before curl is told of the request.
    private func open(
        _ request: Request, to target: Target, _ observer: Observer<TransferEvent, NetworkError>
    ) {
        let scope = observer.scope.child()
        let nothing = NetworkError(.invalidParameters, "the body has no content")
        content(of: request).ifEmpty(fail: nothing).subscribe(
            Observer(scope: scope) { content in
                scope.close()
                self.begin(request, content, to: target, observer)
            } end: { completion in
                scope.close()
                guard case .failed(let error) = completion else { return }
                var unsent = error.attributed(to: request)
                unsent.isUnsent = true
                observer.fail(unsent)
            })
    }

    private func content(of request: Request) -> Observable<TransferContent, NetworkError> {
        let loop = loop
        let isCompressed = request.compression == .gzip
        switch request.body {
        case .empty: return .just(.none)
        case .bytes(let bytes):
            return (isCompressed ? loop.gzip(bytes) : .just(bytes)).map { TransferContent($0) }
        case .streamed(let body):
            return body.open(files).map { content in
                var content = content
                if isCompressed { content = .init(length: nil, chunks: loop.gzip(content.chunks)) }
                return TransferContent(content, isReplayable: body.isReplayable)
            }
        }
    }

    private func begin(
        _ request: Request, _ content: TransferContent, to target: Target,
        _ observer: Observer<TransferEvent, NetworkError>
    ) {
        let transfer = Transfer(request, with: content, to: target, for: observer, by: self)
        observer.scope.onClose { transfer.cancel() }
        if loop.ownsCurrentThread { return multi.perform(.add(transfer)) }
        let multi = multi
        let isPosted = loop.post { multi.perform(.add(transfer)) }
        if !isPosted { transfer.end(.shutDown, "the transport's event loop has been shut down") }
    }
}
