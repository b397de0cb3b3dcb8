import RxHTTP
import RxLite

/// A stage of a call: a rule. Its protocols have a hook for each way that a call can take through it.
///
/// Down, ``RequestStage/send(_:_:)`` gets the request; up, ``EventStage/receive(_:_:)`` gets each event, and
/// ``EndStage/end(_:_:)`` the end. A stage gets ``EndStage/cancel(_:)`` instead of an end if the subscriber leaves, or if
/// another stage has ended the call or restarted it further out: for each `send` that does not throw there is one of the
/// two. A stage is stateless; its state of a call is in the ``Walk``. All hooks run in the lane of the call, but see
/// ``EventStage/readsContent``.
protocol Stage: AnyObject, Sendable {
    /// Whether the stage also takes part after an interceptor further out has responded with a stand-in, which no server
    /// has sent (``Next/respond(with:)``). Other stages are skipped.
    var seesStandIns: Bool { get }
}

extension Stage {
    var seesStandIns: Bool { false }
}

/// A stage with a rule for requests.
protocol RequestStage: Stage {
    /// Changes the request, waits, responds, or fails.
    func send(_ request: inout Request, _ walk: Walk) throws(NetworkError) -> Step
}

/// A stage with a rule for events.
protocol EventStage: Stage {
    /// Whether ``receive(_:_:)`` reads the body of whole responses. For a large one it is then called on another
    /// thread, outside of the lane: it must not use the memory and the context of the walk, and must return true.
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

/// An interceptor of the app as a stage: it responds with a stream of its own.
private final class Intercepting: RequestStage {
    let interceptor: any Interceptor

    init(_ interceptor: any Interceptor) { self.interceptor = interceptor }

    func send(_ request: inout Request, _ walk: Walk) -> Step {
        .respond(with: interceptor.intercept(request, in: walk.call, walk.rest(received: request)))
    }
}

// MARK: - The list

/// The optional features of a call. A stage that serves a feature is in the list only if the call has it.
///
/// A new feature also needs a line in ``MergedOptions``, or in ``CallContext`` as `tracing` has, and the `with:` of its
/// stages' rows in `Pipeline.swift`.
struct CallFeatures: OptionSet, Sendable {
    let rawValue: UInt8

    /// Responses may be stored.
    static let caching = CallFeatures(rawValue: 1)
    /// All attempts together have a time limit, or an interceptor may set one.
    static let deadline = CallFeatures(rawValue: 2)
    /// A slow attempt may get a second one.
    static let hedging = CallFeatures(rawValue: 4)
    /// Somebody watches the call.
    static let tracing = CallFeatures(rawValue: 8)
}

/// A stage in the list of a call: one of the client's, by its hooks, or an interceptor of the app.
final class ListedStage: Sendable {
    let requests: (any RequestStage)?
    let events: (any EventStage)?
    let ends: (any EndStage)?
    /// The features that the stage serves: without them a call does not need it. Empty for a stage of every call.
    let requiredFeatures: CallFeatures
    fileprivate let hooks: StageList.Hooks
    private let type: Any.Type

    init(_ stage: any Stage, for requiredFeatures: CallFeatures = []) {
        requests = stage as? any RequestStage
        events = stage as? any EventStage
        ends = stage as? any EndStage
        self.requiredFeatures = requiredFeatures
        type = Swift.type(of: stage)
        var hooks: StageList.Hooks = []
        if requests != nil { hooks.insert(.request) }
        if events != nil { hooks.insert(.event) }
        if ends != nil { hooks.insert(.end) }
        if stage.seesStandIns { hooks.insert(.standIn) }
        if events?.readsContent == true { hooks.insert(.content) }
        self.hooks = hooks
    }

    init(_ interceptor: any Interceptor) {
        let interceptor = (interceptor as? BuiltInInterceptor)?.interceptor ?? interceptor
        (requests, events, ends) = (Intercepting(interceptor), nil, nil)
        (requiredFeatures, hooks) = ([], .request)
        type = Swift.type(of: interceptor)
    }

    /// The name of its type.
    var name: String { "\(type)" }
}

/// The stages of a call, in order.
final class StageList: Sendable {
    /// The hooks of a stage.
    struct Hooks: OptionSet, Sendable {
        let rawValue: UInt8

        static let request = Hooks(rawValue: 1)
        static let event = Hooks(rawValue: 2)
        static let end = Hooks(rawValue: 4)
        /// The stage also sees stand-ins.
        static let standIn = Hooks(rawValue: 8)
        /// The stage reads the body of whole responses.
        static let content = Hooks(rawValue: 16)
    }

    let stages: [ListedStage]
    /// The same stages, which a call passes without retaining each of them.
    private let entries: [Entry]

    @safe
    private struct Entry: Sendable {
        let hooks: Hooks
        // Guard: the list holds the stage.
        let stage: Unmanaged<ListedStage>
    }

    init(_ stages: [ListedStage]) {
        self.stages = stages
        entries = stages.map { unsafe Entry(hooks: $0.hooks, stage: .passUnretained($0)) }
    }

    func hooks(at index: Int) -> Hooks { entries[index].hooks }

    // Guard of the three: `stages`, which never changes, holds the stage.

    func send(_ request: inout Request, at index: Int, _ walk: Walk) throws(NetworkError) -> Step {
        let step = unsafe entries[index].stage._withUnsafeGuaranteedRef { listed in
            Result { () throws(NetworkError) in try listed.requests?.send(&request, walk) ?? .next }
        }
        return try step.get()
    }

    func receive(_ event: inout CallEvent, at index: Int, _ walk: Walk) throws(NetworkError) -> Bool {
        let isPassedOn = unsafe entries[index].stage._withUnsafeGuaranteedRef { listed in
            Result { () throws(NetworkError) in try listed.events?.receive(&event, walk) ?? true }
        }
        return try isPassedOn.get()
    }

    func end(_ completion: inout Completion<NetworkError>, at index: Int, _ walk: Walk) -> Continuation {
        unsafe entries[index].stage._withUnsafeGuaranteedRef { $0.ends?.end(&completion, walk) ?? .end }
    }

    func cancel(at index: Int, _ walk: Walk) { stages[index].ends?.cancel(walk) }
}
