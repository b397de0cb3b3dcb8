import RxHTTP
import RxLite

extension Observable where Element == Response, Failure == NetworkError {
    /// Transforms each response; off the stream's scheduler if the body is large.
    func process<T: Sendable>(
        _ transform: @escaping @Sendable (Response) throws(NetworkError) -> T
    ) -> Observable<T, NetworkError> {
        lift { observer in
            let processing = Processing(transform, into: observer)
            return Observer(
                scope: processing.source, target: processing,
                receive: { response, processing in
                    // Guard: the target given above.
                    unsafe unsafeDowncast(processing, to: Processing<T>.self).receive(response)
                }, end: { processing.end($0) })
        }
    }
}

extension Observable where Element == CallEvent, Failure == NetworkError {
    /// The same for whole responses; other events stay unchanged.
    func processResponse(
        _ transform: @escaping @Sendable (Response) throws(NetworkError) -> CallEvent
    ) -> Observable {
        Observable(scheduler: scheduler) { observer in
            let processing = Processing(transform, into: observer)
            subscribe(
                Observer(
                    scope: processing.source, target: processing,
                    receive: { event, processing in
                        // Guard: the target given above.
                        let processing = unsafe unsafeDowncast(processing, to: Processing<CallEvent>.self)
                        if case .response(let response) = event {
                            processing.receive(response)
                        } else {
                            processing.observer.next(event)
                        }
                    }, end: { processing.end($0) }))
        }
    }

    /// The whole responses of a stream that has no other events.
    func responses(of call: CallContext) -> Observable<Response, NetworkError> {
        map { event throws(NetworkError) in
            guard case .response(let response) = event else { throw call.misplaced(event) }
            return response
        }
    }
}

/// Transforms responses in their order.
private final class Processing<T: Sendable>: @unchecked Sendable {
    // Unchecked, and without exclusivity checks: runs only inside the subscription's lane, which is serial.
    private let transform: @Sendable (Response) throws(NetworkError) -> T
    let observer: Observer<T, NetworkError>
    /// The scope of the responses, which is paused while one is transformed elsewhere.
    let source: Scope
    /// Whether a large response is being transformed elsewhere, or waits for a paused subscriber.
    @safe @exclusivity(unchecked) private var isBusy = false
    /// The responses that arrived despite the pause.
    @safe @exclusivity(unchecked) private var waiting: [Response] = []
    @safe @exclusivity(unchecked) private var hasEnded = false

    init(
        _ transform: @escaping @Sendable (Response) throws(NetworkError) -> T,
        into observer: Observer<T, NetworkError>
    ) {
        self.transform = transform
        self.observer = observer
        source = observer.scope.child()
    }

    func receive(_ response: Response) {
        if isBusy { return waiting.append(response) }
        guard response.body.count > Response.inPlaceLimit else {
            return deliver { () throws(NetworkError) in try transform(response) }
        }
        isBusy = true
        source.pause()
        transformElsewhere(response)
    }

    func end(_ completion: Completion<NetworkError>) {
        source.close()
        if case .finished = completion, isBusy { return hasEnded = true }
        observer.end(completion)
    }

    private func transformElsewhere(_ response: Response) {
        // Runs on the runtime's thread pool, without the receiver's context: otherwise a clock or an event
        // loop would block.
        Task.detached {
            let result: Result<T, NetworkError>
            do throws(NetworkError) {
                result = .success(try self.transform(response))
            } catch {
                result = .failure(error)
            }
            self.observer.scope.enter { self.observer.scope.whenRunning { self.resume(with: result) } }
        }
    }

    private func resume(with result: Result<T, NetworkError>) {
        deliver { () throws(NetworkError) in try result.get() }
        while observer.scope.isOpen, !waiting.isEmpty {
            let response = waiting.removeFirst()
            guard response.body.count <= Response.inPlaceLimit else { return transformElsewhere(response) }
            deliver { () throws(NetworkError) in try transform(response) }
        }
        guard observer.scope.isOpen else { return }
        isBusy = false
        if hasEnded { observer.finish() } else { source.resume() }
    }

    private func deliver(_ make: () throws(NetworkError) -> T) {
        let value: T
        do throws(NetworkError) { value = try make() } catch { return observer.fail(error) }
        observer.next(value)
    }
}
