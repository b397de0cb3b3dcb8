import RxHTTP
import RxLite

extension Observable where Element == Response, Failure == NetworkError {
    /// Transforms each response; off the stream's scheduler if the body is large.
    func process<T: Sendable>(
        _ transform: @escaping @Sendable (Response) throws(NetworkError) -> T
    ) -> Observable<T, NetworkError> {
        lift { observer in
            let source = observer.scope.child()
            let reading = ContentReading(transform, pausing: source, into: observer)
            return Observer(
                scope: source, target: reading,
                receive: { response, reading in
                    // Guard: the target given above.
                    unsafe unsafeDowncast(reading, to: ContentReading<T>.self).receive(response)
                },
                end: { completion in
                    source.close()
                    reading.end(completion)
                })
        }
    }
}

extension Observable where Element == CallEvent, Failure == NetworkError {
    /// The whole responses of a stream that has no other events.
    func responses(of call: CallContext) -> Observable<Response, NetworkError> {
        map { event throws(NetworkError) in
            guard case .response(let response) = event else { throw call.misplaced(event) }
            return response
        }
    }
}

/// Transforms responses in their order.
final class ContentReading<T: Sendable>: @unchecked Sendable {
    // Unchecked, and without exclusivity checks: runs only inside the subscription's lane, which is serial.
    private let transform: @Sendable (Response) throws(NetworkError) -> T
    private let observer: Observer<T, NetworkError>
    /// The scope of the responses, which is paused while one is transformed elsewhere.
    private let source: Scope
    /// Whether a large response is being transformed elsewhere, or waits for a paused subscriber.
    @safe @exclusivity(unchecked) private var isBusy = false
    /// The responses that arrived despite the pause.
    @safe @exclusivity(unchecked) private var waiting: [Response] = []
    @safe @exclusivity(unchecked) private var hasEnded = false

    /// - Parameter source: the scope of the responses.
    init(
        _ transform: @escaping @Sendable (Response) throws(NetworkError) -> T, pausing source: Scope,
        into observer: Observer<T, NetworkError>
    ) {
        self.transform = transform
        self.source = source
        self.observer = observer
    }

    /// The scope of the results.
    var scope: Scope { observer.scope }

    func receive(_ response: Response) {
        if isBusy { return waiting.append(response) }
        guard response.isLarge else {
            return deliver { () throws(NetworkError) in try transform(response) }
        }
        isBusy = true
        source.pause()
        transformElsewhere(response)
    }

    func end(_ completion: Completion<NetworkError>) {
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
            guard !response.isLarge else { return transformElsewhere(response) }
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

extension Response {
    /// Whether reading the body would keep the stream's scheduler from other work for too long.
    var isLarge: Bool { body.count > Self.inPlaceLimit }
}
