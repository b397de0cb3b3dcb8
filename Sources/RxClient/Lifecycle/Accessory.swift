public import RxHTTP
public import RxLite

/// Closures that accompany requests, for example to show a spinner, measure time or write a log.
///
/// ```swift
/// configuration.options.accessories = [
///     Accessory(willStart: { request in spinner.show(request.id) }, didStop: { request, _ in spinner.hide(request.id) })
/// ]
/// ```
///
/// For each request, regardless of its attempts, logins and redirects, there is exactly one ``willStart``,
/// then one ``willStop``, then one ``didStop``: on success, failure and cancellation. The options of an endpoint, or of
/// one call, add accessories to the client's, or disable them with ``RequestOptions/presentation``. The closures run
/// within the request's stream, on the transport's scheduler, and block it; move slow work, and work for another
/// thread, elsewhere.
public struct Accessory: Sendable {
    /// Called before anything is sent. The request has its parameters; credential, signature and cookies come later.
    public var willStart: @Sendable (Request) -> Void
    /// Called when the outcome is known, before the subscriber receives it.
    public var willStop: @Sendable (Request, RequestOutcome) -> Void
    /// Called when the transfer is closed and the subscriber has received everything. An operator that leaves
    /// the request early, such as `take(1)`, may emit its value after this call.
    public var didStop: @Sendable (Request, RequestOutcome) -> Void

    /// Creates an accessory; an omitted closure does nothing.
    public init(
        willStart: @escaping @Sendable (Request) -> Void = { _ in },
        willStop: @escaping @Sendable (Request, RequestOutcome) -> Void = { _, _ in },
        didStop: @escaping @Sendable (Request, RequestOutcome) -> Void = { _, _ in }
    ) {
        self.willStart = willStart
        self.willStop = willStop
        self.didStop = didStop
    }
}

/// The outcome of a request.
public enum RequestOutcome: Sendable {
    /// The subscriber received the result.
    case succeeded
    /// The subscriber received an error.
    indirect case failed(NetworkError)
    /// The subscription was cancelled, or the request was cancelled by ``Client/cancel(_:)``.
    case cancelled
}

/// The parts of a request that are visible to the user while it runs and when it fails.
public struct Presentation: OptionSet, Sendable {
    /// The raw bits.
    public let rawValue: Int

    /// Creates a set from raw bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The request counts in ``Client/activity``.
    public static let indicator = Presentation(rawValue: 1 << 0)
    /// The ``RequestOptions/accessories`` accompany the request.
    public static let accessories = Presentation(rawValue: 1 << 1)
    /// ``Client/errorTips`` emits the request's failure.
    public static let errorTips = Presentation(rawValue: 1 << 2)

    /// All parts.
    public static let all: Presentation = [.indicator, .accessories, .errorTips]
    /// No parts: the request runs in the background.
    public static let hidden: Presentation = []
}

// MARK: - The operator

extension Observable where Failure == NetworkError {
    /// Calls accessories around the request of this stream: one ``Accessory/willStart``, one
    /// ``Accessory/willStop`` and one ``Accessory/didStop`` for each subscription, for any outcome.
    ///
    /// - Parameters:
    ///   - accessories: the closures to call.
    ///   - request: the request that the closures receive.
    ///   - isWhole: whether one value is the whole result, so that the outcome is known with it. Default true.
    public func accompanied(
        by accessories: [Accessory], as request: Request, isWhole: Bool = true
    ) -> Observable {
        Observable(scheduler: scheduler) { observer in
            guard observer.scope.isOpen else { return }
            AccompaniedRun(of: request, accessories, isWhole: isWhole, into: observer).start(self)
        }
    }
}

/// A request with its accessories. Each accessory is notified once of the outcome and once of the end. ``CallRun`` is
/// one for calls, ``AccompaniedRun`` one for other streams.
class AccompaniedRequest: @unchecked Sendable {
    // Unchecked, and without exclusivity checks: runs only inside the subscription's lane, which is serial.

    /// The request that the accessories are told of; that of a call as it is before its attempts.
    /// ``Client/cancel(_:)`` finds it by its id and URL.
    let request: Request
    private let accessories: [Accessory]
    @safe @exclusivity(unchecked) private(set) final var outcome: RequestOutcome?

    init(of request: Request, _ accessories: [Accessory]) {
        self.request = request
        self.accessories = accessories
    }

    final func startAccessories() { for accessory in accessories { accessory.willStart(request) } }

    /// Only the first outcome counts.
    final func settle(_ outcome: RequestOutcome) {
        guard self.outcome == nil else { return }
        self.outcome = outcome
        for accessory in accessories { accessory.willStop(request, outcome) }
    }

    final func settle(_ completion: Completion<NetworkError>) {
        switch completion {
        case .finished: settle(.succeeded)
        case .failed(let error): settle(.failed(error))
        }
    }

    /// Without an outcome so far, the end is a cancellation.
    final func stopAccessories() {
        settle(.cancelled)
        guard let outcome else { return }
        for accessory in accessories { accessory.didStop(request, outcome) }
    }
}

/// A stream with accessories around it.
///
/// ``CallRun`` settles and delivers in the same order for calls; change both.
private final class AccompaniedRun<Element: Sendable>: AccompaniedRequest, @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    private let isWhole: Bool
    private let observer: Observer<Element, NetworkError>
    private let scope: Scope

    init(
        of request: Request, _ accessories: [Accessory], isWhole: Bool,
        into observer: Observer<Element, NetworkError>
    ) {
        self.isWhole = isWhole
        self.observer = observer
        scope = observer.scope.child()
        super.init(of: request, accessories)
    }

    func start(_ stream: Observable<Element, NetworkError>) {
        // Runs after the end has been delivered, or on a cancellation, when the transfer is already closed.
        observer.scope.onClose { self.stopAccessories() }
        startAccessories()
        guard scope.isOpen else { return }
        stream.subscribe(
            Observer(
                scope: scope, target: self,
                receive: { value, run in
                    // Guard: the target given above.
                    unsafe unsafeDowncast(run, to: AccompaniedRun.self).receive(value)
                }, end: { self.end($0) }))
    }

    private func receive(_ value: Element) {
        guard scope.isOpen else { return }
        if isWhole { settle(.succeeded) }
        observer.next(value)
    }

    private func end(_ completion: Completion<NetworkError>) {
        guard scope.isOpen else { return }
        scope.close()
        settle(completion)
        observer.end(completion)
    }
}
