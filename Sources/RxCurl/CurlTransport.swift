internal import HTTPTypes
public import RxHTTP
public import RxLite
public import RxLoop
import Synchronization

/// Carries requests over libcurl, on one event loop or on several.
///
/// All transfers of one transport share its connections, those of a loop among themselves. Redirects are not followed,
/// cookies not stored; see ``Transport``.
///
/// ```swift
/// let transport = CurlTransport(loop: .shared)
/// transport.send(Request(url: url)).subscribe(onNext: { event in … })
/// ```
///
/// Threads: everything from anywhere. Events are delivered on the loop that the request is on.
public final class CurlTransport: Transport {
    /// The transport that clients share unless they are given another, on the process's own loop.
    ///
    /// Where that cannot be started, since the process has no descriptor left, requests fail with
    /// ``NetworkError/Code/connect``, and each tries again.
    public static let shared = CurlTransport(loop: .shared)

    /// The loop that everything happens on, or the first of several.
    public let loop: EventLoop
    /// The settings of all transfers.
    public let configuration: Configuration
    /// The libcurl that runs.
    public let features: LibcurlFeatures
    let multi: Multi
    /// Those of all loops.
    private let multis: [Multi]
    /// Set if there are several.
    private let shares: LoopShares?

    /// Creates a transport; connections and curl's handles are made when the first request is sent.
    public convenience init(loop: EventLoop, configuration: Configuration = Configuration()) {
        self.init(loops: [loop], configuration: configuration)
    }

    /// Creates a transport on several loops, each with its own thread.
    ///
    /// A request is on one loop from its beginning to its end. It goes to a loop that has a free connection to its
    /// origin, else to the one with the fewest requests; redirects of it, and streams that are merged with it, stay
    /// there. ``Configuration/maxConnectionsPerOrigin``, ``Configuration/promptConnectionsPerOrigin``,
    /// ``Configuration/maxConnections`` and ``Configuration/maxIdleConnections`` are divided among the loops, each of
    /// which has one at least.
    ///
    /// The loops stay their owner's to shut down. One that has been is not used any more.
    ///
    /// - Parameter loops: at least one, without duplicates.
    public convenience init(loops: [EventLoop], configuration: Configuration = Configuration()) {
        self.init(loops: loops, configuration: configuration, features: .running)
    }

    /// Creates a transport that takes libcurl for one with the features given.
    init(loops: [EventLoop], configuration: Configuration, features: LibcurlFeatures) {
        precondition(!loops.isEmpty, "a transport needs a loop")
        loop = loops[0]
        self.configuration = configuration
        self.features = features
        let share = configuration.divided(by: loops.count)
        let alternatives = AlternativeServices(
            path: configuration.alternativeServicesPath, onFailure: configuration.onAlternativeServicesFailure
        )
        multis = loops.enumerated().map {
            Multi(on: $1, at: $0, configuration: share, features: features, alternatives: alternatives)
        }
        multi = multis[0]
        shares = loops.count > 1 ? LoopShares(loops: loops.count) : nil
        for multi in multis { multi.closeWithLoop() }
    }

    deinit {
        // Transfers and observables hold the transport: none is left.
        close()
    }

    /// The loop; of several, one for the next stream.
    public var scheduler: any Scheduler { scheduler(for: nil) }

    /// The loop; of several, one with a free connection to `origin`, else the one with the fewest requests.
    public func scheduler(for origin: Origin?) -> any Scheduler {
        shares == nil ? loop : choose(for: origin).loop
    }

    /// ``Configuration/hsts``.
    public var hsts: HSTSStore? { configuration.hsts }

    /// The machine's files, on the transport's first loop.
    public var files: LoopFileSystem { LoopFileSystem(loop: loop) }

    /// The exchange that sends `request` once per subscription. With several loops the stream has no scheduler: it runs
    /// on the subscriber's loop if that is one of them, else on the one that suits best at the time.
    ///
    /// Fails with ``NetworkError/Code/invalidURL``, ``NetworkError/Code/invalidHeader`` or
    /// ``NetworkError/Code/invalidParameters`` (content with HEAD) before anything is sent.
    public func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        guard request.digest == nil else { return authenticated(request) }
        guard shares != nil else {
            return Observable(scheduler: loop) { [self] observer in start(request, observer) }
        }
        return Observable { [self] observer in
            let loop = multi(for: request, in: observer.scope.lane).loop
            Observable(scheduler: loop) { [self] observer in start(request, observer) }.subscribe(observer)
        }
    }

    /// Ends what runs with ``NetworkError/Code/shutDown``, closes all connections and frees everything. Later requests
    /// fail with the same error. The loop's own shutdown does this too.
    ///
    /// Returns at once; it happens on the loops.
    public func shutDown() { close() }

    /// Nothing is to be done on a loop that has ended, since it closed its multi handle then.
    private func close() {
        for multi in multis { _ = multi.loop.post { multi.perform(.close) } }
    }

    /// The loop for a request to `origin`, where there are several.
    private func choose(for origin: Origin?) -> Multi {
        let index = shares?.choose(for: origin) { !multis[$0].isClosed.load(ordering: .relaxed) }
        return multis[index ?? 0]
    }

    /// The loop that the subscription is on already, if it is one of these.
    private func multi(for request: Request, in lane: Lane) -> Multi {
        guard shares != nil else { return multi }
        if let loop = lane.scheduler as? EventLoop, let multi = multis.first(where: { $0.loop === loop }) {
            return multi
        }
        return choose(for: Origin(request.url))
    }

    /// Runs in the observer's lane, on the subscriber's thread.
    ///
    /// - Parameter isRestored: whether the HSTS store has been asked to read its file, whatever came of it.
    private func start(
        _ request: Request, _ observer: Observer<TransferEvent, NetworkError>, isRestored: Bool = false
    ) {
        guard observer.scope.isOpen else { return }
        if let hsts, !isRestored, !hsts.isRestored { return restore(hsts, then: request, observer) }
        let request = hsts.flatMap { request.upgraded(by: $0, at: loop.currentDate) } ?? request
        let target: CheckedURL
        do throws(NetworkError) {
            target = try CheckedURL(of: request)
            try checkVersion(target, of: request)
            if request.method == .head, !request.body.isEmpty {
                throw NetworkError(.invalidParameters, "HEAD carries no content", request: request)
            }
        } catch {
            var error = error
            error.isUnsent = true
            return observer.scope.perform { [error] in observer.fail(error) }
        }
        guard !target.isPlain, let alternatives = multi.alternatives, alternatives.isAwaited else {
            return prepare(request, to: target, observer)
        }
        alternatives.whenLoaded(on: multi.loop) { [self] in
            observer.scope.lane.enter { [self] in
                if observer.scope.isOpen { prepare(request, to: target, observer) }
            }
        }
    }

    /// Finds a loop for the request, and what content there is.
    private func prepare(
        _ request: Request, to target: CheckedURL, _ observer: Observer<TransferEvent, NetworkError>
    ) {
        switch (request.body, request.compression) {
        case (.empty, _):
            begin(request, .none, to: target, on: multi(for: request, in: observer.scope.lane), observer)
        case (.bytes(let bytes), let compression) where compression == .identity || bytes.isEmpty:
            begin(
                request, TransferContent(bytes), to: target,
                on: multi(for: request, in: observer.scope.lane), observer)
        default: open(request, to: target, observer)
        }
    }

    /// Starts once it is known which hosts want TLS, or that nobody can know.
    private func restore(
        _ hsts: HSTSStore, then request: Request, _ observer: Observer<TransferEvent, NetworkError>
    ) {
        let loop = multi(for: request, in: observer.scope.lane).loop
        hsts.restored.flatMap {
            Observable(scheduler: loop) { [self] in start(request, $0, isRestored: true) }
        }
        .subscribe(observer)
    }

    /// Finds out what there is to send before curl is told of the request.
    private func open(
        _ request: Request, to target: CheckedURL, _ observer: Observer<TransferEvent, NetworkError>
    ) {
        let scope = observer.scope.child()
        let multi = multi(for: request, in: observer.scope.lane)
        let nothing = NetworkError(.invalidParameters, "the body has no content")
        content(of: request, on: multi.loop).ifEmpty(fail: nothing).subscribe(
            Observer(scope: scope) { content in
                scope.close()
                self.begin(request, content, to: target, on: multi, observer)
            } end: { completion in
                scope.close()
                guard case .failed(let error) = completion else { return }
                var unsent = error.attributed(to: request)
                unsent.isUnsent = true
                observer.fail(unsent)
            })
    }

    private func content(
        of request: Request, on loop: EventLoop
    ) -> Observable<TransferContent, NetworkError> {
        let isCompressed = request.compression == .gzip
        switch request.body {
        case .empty: return .just(.none)
        case .bytes(let bytes):
            return (isCompressed ? loop.gzip(bytes) : .just(bytes)).map { TransferContent($0) }
        case .streamed(let body):
            return body.open(LoopFileSystem(loop: loop)).map { content in
                var content = content
                if isCompressed { content = .init(length: nil, chunks: loop.gzip(content.chunks)) }
                return TransferContent(content, isReplayable: body.isReplayable)
            }
        }
    }

    private func begin(
        _ request: Request, _ content: TransferContent, to target: CheckedURL, on multi: Multi,
        _ observer: Observer<TransferEvent, NetworkError>
    ) {
        let share = shares?.enter(multi.index, Origin(request.url))
        let transfer = Transfer(
            request, with: content, to: target, for: observer, by: self, on: multi, counted: share)
        observer.scope.onClose { transfer.cancel() }
        if multi.loop.ownsCurrentThread { return multi.perform(.add(transfer)) }
        let isPosted = multi.loop.post { multi.perform(.add(transfer)) }
        guard !isPosted else { return }
        if let error = multi.loop.startError {
            transfer.end(.connect, "there is no event loop: \(error)")
        } else {
            transfer.end(.shutDown, "the transport's event loop has been shut down")
        }
    }
}
