import RxHTTP
import RxLite

/// A stage of a call: a rule. Its protocols have a hook for each way that a call can take through it.
///
/// Down, ``RequestStage/send(_:_:)`` gets the request; up, ``EventStage/receive(_:_:)`` gets each event, and
/// ``EndStage/end(_:_:)`` the end. A stage gets ``EndStage/cancel(_:)`` instead of an end if the subscriber leaves, or if
/// another stage has ended the call or restarted it further out: for each `send` that does not throw there is one of the
/// two. A stage is stateless; its state of a call is in the ``Walk``. All hooks run in the lane of the call.
protocol Stage: AnyObject, Sendable {
    /// Whether the stage also processes responses that no server has sent (``Next/respond(with:)``).
    var readsResponse: Bool { get }
}

extension Stage {
    var readsResponse: Bool { false }
}

/// A stage with a rule for requests.
protocol RequestStage: Stage {
    /// Changes the request, waits, responds, or fails.
    func send(_ request: inout Request, _ walk: Walk) throws(NetworkError) -> Step
}

/// A stage with a rule for events.
protocol EventStage: Stage {
    /// Whether ``receive(_:_:)`` reads the body of whole responses. It is then called elsewhere for a large one.
    var readsContent: Bool { get }

    /// Changes an event of the later stages.
    ///
    /// - Returns: whether the earlier stages get the event.
    func receive(_ event: inout CallEvent, _ walk: Walk) throws(NetworkError) -> Bool
}

extension EventStage {
    var readsContent: Bool { false }
}

/// A stage with a rule for the end, or with something to release.
protocol EndStage: Stage {
    /// Changes the end of the later stages, or continues in another way.
    func end(_ completion: inout Completion<NetworkError>, _ walk: Walk) -> Continuation

    /// Releases what the stage holds for this walk.
    func cancel(_ walk: Walk)
}

extension EndStage {
    func cancel(_ walk: Walk) {}
}

/// A stage's decision about a request on its way down.
enum Step {
    /// The next stage gets the request.
    case next
    /// The next stage gets the request that the stream emits.
    case wait(for: Observable<Request, NetworkError>)
    /// The event and an end take the place of the later stages.
    indirect case answer(CallEvent)
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
    /// This stage gets the request, and then the later ones.
    case restart(Request)
    /// The events and the end of the stream follow, as those of this stage.
    case respond(with: Observable<CallEvent, NetworkError>)
}

/// A stage in the list of a call: one of the client's, by its hooks, or an interceptor of the app.
final class ListedStage: Sendable {
    let requests: (any RequestStage)?
    let events: (any EventStage)?
    let ends: (any EndStage)?
    let interceptor: (any Interceptor)?
    let readsResponse: Bool
    let readsContent: Bool
    /// The name of its type.
    let name: String

    init(_ stage: any Stage) {
        requests = stage as? any RequestStage
        events = stage as? any EventStage
        ends = stage as? any EndStage
        interceptor = nil
        readsResponse = stage.readsResponse
        readsContent = events?.readsContent ?? false
        name = "\(type(of: stage))"
    }

    init(_ interceptor: any Interceptor) {
        (requests, events, ends) = (nil, nil, nil)
        self.interceptor = interceptor
        (readsResponse, readsContent) = (false, false)
        name = "\(type(of: interceptor))"
    }
}
