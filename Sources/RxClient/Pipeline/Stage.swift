import RxHTTP
import RxLite

/// A stage of a call: a rule, with one hook for each way that a call can take through it.
///
/// Down, ``send(_:_:)`` gets the request; up, ``receive(_:_:)`` gets each event, and ``end(_:_:)`` the end. A stage
/// gets ``cancel(_:)`` instead of an end if the subscriber leaves, or if another stage has ended the call or restarted
/// it further out: for each `send` that does not throw there is one of the two. A stage is stateless; its state of a
/// call is in the ``Walk``. All hooks run in the lane of the call.
protocol Stage: Sendable {
    /// Whether the stage also processes responses that no server has sent (``Next/respond(with:)``).
    var readsResponse: Bool { get }
    /// Whether ``receive(_:_:)`` reads the body of whole responses. It is then called elsewhere for a large one.
    var readsContent: Bool { get }

    /// Changes the request, waits, responds, or fails.
    func send(_ request: inout Request, _ walk: Walk) throws(NetworkError) -> Step

    /// Changes an event of the later stages.
    ///
    /// - Returns: whether the earlier stages get the event.
    func receive(_ event: inout CallEvent, _ walk: Walk) throws(NetworkError) -> Bool

    /// Changes the end of the later stages, or continues in another way.
    func end(_ completion: inout Completion<NetworkError>, _ walk: Walk) -> Continuation

    /// Releases what the stage holds for this walk.
    func cancel(_ walk: Walk)
}

extension Stage {
    var readsResponse: Bool { false }
    var readsContent: Bool { false }
    func send(_ request: inout Request, _ walk: Walk) throws(NetworkError) -> Step { .next }
    func receive(_ event: inout CallEvent, _ walk: Walk) throws(NetworkError) -> Bool { true }
    func end(_ completion: inout Completion<NetworkError>, _ walk: Walk) -> Continuation { .end }
    func cancel(_ walk: Walk) {}
}

/// A stage's decision about a request on its way down.
enum Step {
    /// The next stage gets the request.
    case next
    /// The next stage gets the request that the stream emits.
    case wait(for: Observable<Request, NetworkError>)
    /// The event and an end take the place of the later stages.
    case answer(CallEvent)
    /// The stream takes the place of the later stages.
    case respond(with: Observable<CallEvent, NetworkError>)
    /// The events of one response take the place of the later stages.
    case transfer(Observable<TransferEvent, NetworkError>)
}

/// A stage's decision about an end on its way up.
enum Continuation {
    /// The earlier stages get the end.
    case end
    /// The later stages get the request, once the stream has emitted a value; at once without a stream. A failure of the
    /// stream is that of this stage.
    case again(Request, after: Observable<Void, NetworkError>?)
    /// The events and the end of the stream follow, as those of this stage.
    case respond(with: Observable<CallEvent, NetworkError>)
}

/// A stage in the list of a call: one of the client's, or an interceptor of the app.
final class ListedStage: Sendable {
    enum Content {
        case own(any Stage)
        case users(any Interceptor)
    }

    let content: Content
    let readsResponse: Bool
    let readsContent: Bool

    init(_ stage: any Stage) {
        content = .own(stage)
        readsResponse = stage.readsResponse
        readsContent = stage.readsContent
    }

    init(_ interceptor: any Interceptor) {
        content = .users(interceptor)
        readsResponse = false
        readsContent = false
    }

    /// The name of its type.
    var name: String {
        switch content {
        case .own(let stage): "\(type(of: stage))"
        case .users(let interceptor): "\(type(of: interceptor))"
        }
    }
}
