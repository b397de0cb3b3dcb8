/// When a shared stream forgets its run, so that the next subscriber starts a new one.
public struct ShareReset: OptionSet, Sendable {
    /// The bits.
    public var rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// When the last subscriber has left; the source is cancelled. Without it the source runs on.
    public static let unused = ShareReset(rawValue: 1)
    /// When the source has ended well. Without it later subscribers get the replay and the end.
    public static let finished = ShareReset(rawValue: 2)
    /// When the source has failed. Without it later subscribers get the replay and the error.
    public static let failed = ShareReset(rawValue: 4)
    /// In all three cases.
    public static let always: ShareReset = [.unused, .finished, .failed]
}

extension Observable {
    /// One run of the stream for all who subscribe while it lasts.
    ///
    /// The first subscriber starts it. Replayed and live values come in one order, none twice and none
    /// left out.
    ///
    /// - Parameters:
    ///   - replay: how many of the latest values a later subscriber gets first. Default 0.
    ///   - reset: when the run is forgotten. Default: always.
    public func share(replay: Int = 0, reset: ShareReset = .always) -> Observable {
        let shared = SharedRun(self, replay: replay, reset: reset)
        return Observable(scheduler: scheduler) { observer in shared.join(observer) }
    }
}

/// The run that the subscribers of one shared stream have in common.
private final class SharedRun<Element: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked: `hub` and `connection` are touched only from inside `lane`, which is serial.
    private let stream: Observable<Element, Failure>
    private let replay: Int
    private let reset: ShareReset
    private let lane = Lane()
    private var hub: Hub<Element, Failure>?
    private var connection: Subscription?
    private var users = 0

    init(_ stream: Observable<Element, Failure>, replay: Int, reset: ShareReset) {
        self.stream = stream
        self.replay = replay
        self.reset = reset
    }

    func join(_ observer: Observer<Element, Failure>) {
        lane.enter {
            guard observer.scope.isOpen else { return }
            if let hub = self.hub { return self.add(observer, to: hub) }
            let hub = Hub<Element, Failure>(replaying: self.replay)
            self.hub = hub
            self.users = 0
            self.add(observer, to: hub)
            let connection = self.stream.subscribe(
                onNext: { hub.send($0) }, onEnd: { self.end(hub, $0) })
            if self.hub === hub { self.connection = connection } else { connection.cancel() }
        }
    }

    private func add(_ observer: Observer<Element, Failure>, to hub: Hub<Element, Failure>) {
        users += 1
        hub.add(observer)
        observer.scope.enter {
            observer.scope.onClose { self.lane.enter { self.leave(hub) } }
        }
    }

    private func leave(_ left: Hub<Element, Failure>) {
        guard hub === left else { return }
        users -= 1
        guard users == 0, reset.contains(.unused) else { return }
        hub = nil
        let connection = connection
        self.connection = nil
        connection?.cancel()
    }

    /// Forgets the run before its end goes out, so that who subscribes from within the end starts anew.
    private func end(_ ended: Hub<Element, Failure>, _ completion: Completion<Failure>) {
        lane.enter {
            let forgets =
                switch completion {
                case .finished: self.reset.contains(.finished)
                case .failed: self.reset.contains(.failed)
                }
            if forgets && self.hub === ended {
                self.hub = nil
                self.connection = nil
            }
            ended.end(completion)
        }
    }
}
