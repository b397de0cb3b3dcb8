import HTTPTypes
public import RxHTTP
public import RxLite
public import RxLoop
import Synchronization

/// Sends requests with libcurl, on one event loop or on several.
///
/// The transfers of a transport share its connections; with several loops, each loop has separate
/// connections. Redirects are not followed, cookies are not stored; see ``Transport``.
///
/// ```swift
/// let transport = CurlTransport(loop: .shared)
/// transport.send(Request(url: url)).subscribe(onNext: { event in print(event) })
/// ```
///
/// All members are safe to call from any thread. Events are delivered on the loop of the request.
public final class CurlTransport: Transport {
    /// The default transport of clients, on the process-wide loop.
    ///
    /// If that loop cannot be started because the process has no free descriptors, requests fail with
    /// ``NetworkError/Code/resources``, and each request tries to start it again.
    public static let shared = CurlTransport(loop: .shared)

    /// The loop of the transport, or the first of several.
    public let loop: EventLoop
    /// The settings of all transfers.
    public let configuration: Configuration
    /// The running libcurl.
    public let features: LibcurlFeatures
    let multi: Multi
    /// The multi handles of all loops.
    private let multis: [Multi]
    /// Set if there are several loops.
    private let load: LoopLoad?
    private let hub = ConnectionHub()

    /// Creates a transport. Connections and the handles of curl are created with the first request.
    public convenience init(loop: EventLoop, configuration: Configuration = Configuration()) {
        self.init(loops: [loop], configuration: configuration)
    }

    /// Creates a transport on several loops, each with a separate thread.
    ///
    /// A request stays on one loop. It goes to a loop that has a free connection to its origin, else to the
    /// loop with the fewest requests; its redirects, and streams that are merged with it, stay on that loop.
    /// ``Configuration/maxConnectionsPerOrigin``, ``Configuration/promptConnectionsPerOrigin``,
    /// ``Configuration/maxConnections`` and ``Configuration/maxIdleConnections`` are divided among the loops;
    /// each loop has at least one connection.
    ///
    /// The transport does not shut the loops down; their owner does. A loop that has been shut down is no
    /// longer used.
    ///
    /// - Parameter loops: at least one loop, without duplicates.
    public convenience init(loops: [EventLoop], configuration: Configuration = Configuration()) {
        self.init(loops: loops, configuration: configuration, features: .running)
    }

    /// Creates a transport that assumes a libcurl with the given features.
    init(loops: [EventLoop], configuration: Configuration, features: LibcurlFeatures) {
        precondition(!loops.isEmpty, "a transport needs a loop")
        loop = loops[0]
        self.configuration = configuration
        self.features = features
        let perLoop = configuration.divided(by: loops.count)
        let alternatives = AlternativeServices(
            path: configuration.alternativeServicesPath, onFailure: configuration.onAlternativeServicesFailure
        )
        multis = loops.enumerated().map { [hub] in
            Multi(
                on: $1, at: $0, configuration: perLoop, features: features, alternatives: alternatives,
                of: loops.count, reportingTo: hub)
        }
        multi = multis[0]
        load = loops.count > 1 ? LoopLoad(loops: loops.count) : nil
        for multi in multis { multi.closeWithLoop() }
    }

    deinit {
        // Transfers and observables hold the transport, so none is left.
        close()
    }

    /// The loop of the transport; with several loops, one for the next stream.
    public var scheduler: any Scheduler { scheduler(for: nil) }

    /// The loop of the transport; with several loops, one with a free connection to `origin`, else the one
    /// with the fewest requests.
    public func scheduler(for origin: Origin?) -> any Scheduler {
        load == nil ? loop : choose(for: origin).loop
    }

    /// ``Configuration/hsts``.
    public var hsts: HSTSStore? { configuration.hsts }

    /// The changes of the connections that are opened from now on, on the loop of each connection, which a subscriber
    /// blocks. Connections to Unix sockets are not reported. Never ends. Without subscribers it costs nothing.
    public var connections: Observable<ConnectionEvent, Never> { hub.events }

    /// The machine's files, on the transport's first loop.
    public var files: any FileSystem { LoopFileSystem(loop: loop) }

    /// The exchange for `request`; each subscription sends it once. With several loops the stream has no
    /// scheduler: it runs on the subscriber's loop if that belongs to the transport, else on the loop that is
    /// the best choice at the time.
    ///
    /// Fails before anything is sent with ``NetworkError/Code/invalidURL``,
    /// ``NetworkError/Code/invalidHeader`` or ``NetworkError/Code/invalidParameters`` (content with HEAD).
    public func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        guard request.digest == nil else { return authenticated(request) }
        guard load != nil else {
            return Observable(scheduler: loop) { [self] observer in start(request, observer) }
        }
        return Observable { [self] observer in
            let loop = multi(for: request, in: observer.scope.lane).loop
            Observable(scheduler: loop) { [self] observer in start(request, observer) }.subscribe(observer)
        }
    }

    /// Ends all running transfers with ``NetworkError/Code/shutDown``, closes all connections and frees all
    /// resources. Later requests fail with the same error. The shutdown of the loop has the same effect.
    ///
    /// Returns immediately; the work is done on the loops.
    public func shutDown() { close() }

    /// A loop that has ended needs no command: it closed its multi handle then.
    private func close() {
        for multi in multis { _ = multi.loop.post { multi.perform(.close) } }
    }

    /// Chooses a loop for a request to `origin`, if there are several.
    private func choose(for origin: Origin?) -> Multi {
        let index = load?.choose(for: origin) { !multis[$0].isClosed.load(ordering: .relaxed) }
        return multis[index ?? 0]
    }

    /// The multi handle of the loop that the subscription already runs on, if that loop belongs to the
    /// transport.
    private func multi(for request: Request, in lane: Lane) -> Multi {
        guard load != nil else { return multi }
        if let loop = lane.scheduler as? EventLoop, let multi = multis.first(where: { $0.loop === loop }) {
            return multi
        }
        return choose(for: Origin(request.url))
    }

    /// Runs in the observer's lane, on the subscriber's thread.
    ///
    /// - Parameter isRestored: whether the HSTS store has already been asked to read its file, even if that
    ///   failed.
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
                throw NetworkError(.invalidParameters, "a HEAD request cannot have a body", request: request)
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

    /// Chooses a loop for the request, and determines its content.
    private func prepare(
        _ request: Request, to target: CheckedURL, _ observer: Observer<TransferEvent, NetworkError>
    ) {
        switch (request.body, request.compressesContent) {
        case (.empty, _):
            begin(request, .none, to: target, on: multi(for: request, in: observer.scope.lane), observer)
        case (.bytes(let bytes), let isCompressed) where !isCompressed || bytes.isEmpty:
            begin(
                request, TransferContent(bytes), to: target,
                on: multi(for: request, in: observer.scope.lane), observer)
        default: openContent(of: request, to: target, observer)
        }
    }

    /// Starts the request once the HSTS store has read its file, or has failed to.
    private func restore(
        _ hsts: HSTSStore, then request: Request, _ observer: Observer<TransferEvent, NetworkError>
    ) {
        let loop = multi(for: request, in: observer.scope.lane).loop
        hsts.restored.flatMap {
            Observable(scheduler: loop) { [self] in start(request, $0, isRestored: true) }
        }
        .subscribe(observer)
    }

    /// Opens the content before curl gets the request.
    private func openContent(
        of request: Request, to target: CheckedURL, _ observer: Observer<TransferEvent, NetworkError>
    ) {
        let scope = observer.scope.child()
        let multi = multi(for: request, in: observer.scope.lane)
        let nothing = NetworkError(.invalidParameters, "the body's source finished without content")
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
        let isCompressed = request.compressesContent
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
        let requestCount = load?.enter(multi.index, Origin(request.url))
        let transfer = Transfer(
            request, with: content, to: target, for: observer, by: self, on: multi, counted: requestCount)
        observer.scope.onClose { transfer.cancel() }
        if multi.loop.ownsCurrentThread { return multi.perform(.add(transfer)) }
        let isPosted = multi.loop.post { multi.perform(.add(transfer)) }
        guard !isPosted else { return }
        if let error = multi.loop.startError {
            var failure = NetworkError(.resources, "the event loop could not start: \(error)")
            failure.systemError = Int(-error.rawValue)
            transfer.end(failure)
        } else {
            transfer.end(.shutDown, "the transport's event loop has been shut down")
        }
    }
}
