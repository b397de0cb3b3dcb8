import FoundationEssentials
import RxHTTP
import RxLite

extension Observable where Failure == NetworkError {
    /// Connections one after another, with waits between them.
    ///
    /// Both closures are called in the lane of the subscription.
    ///
    /// - Parameters:
    ///   - clock: the clock of the waits.
    ///   - connection: makes the next connection.
    ///   - delay: the wait after a connection that has ended, with the error that ended it, if any; `nil` finishes
    ///     the stream, and a thrown error fails it. An open circuit prolongs the wait.
    ///   - announcement: the element to send before each wait.
    static func reconnecting(
        on clock: any Scheduler,
        connection: @escaping @Sendable () -> Observable,
        delay: @escaping @Sendable (NetworkError?) throws(NetworkError) -> Duration?,
        announcement: @escaping @Sendable (Duration, NetworkError?) -> Element
    ) -> Observable {
        Observable(scheduler: clock) { observer in
            Reconnecting(clock, connection, delay, announcement).stream.subscribe(observer)
        }
    }
}

extension NetworkError {
    /// Whether another connection may succeed after this error. ``StreamSource`` and ``WebSocketSource``
    /// decide on some codes before, each in its `mayPass(_:)`.
    var isPassingOnReconnection: Bool {
        // A TLS handshake that breaks off has no specific failure; a refused certificate has one.
        code == .tls ? tlsFailure == nil : code.recoveryOptions.contains(.reconnection)
    }

    /// The minimum wait before another connection: the `Retry-After` of an unsuccessful status, at most a day, as
    /// ``EventStreamParser`` limits `retry`.
    func leastWait(now: Date) -> Duration {
        code == .status ? min(retryAfter(now: now) ?? .zero, .seconds(86_400)) : .zero
    }
}

/// One running ``Observable/reconnecting(on:connection:delay:announcement:)``.
private final class Reconnecting<Element: Sendable>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.

    private let clock: any Scheduler
    private let connection: @Sendable () -> Observable<Element, NetworkError>
    private let delay: @Sendable (NetworkError?) throws(NetworkError) -> Duration?
    private let announcement: @Sendable (Duration, NetworkError?) -> Element
    /// The error that ended the last connection, if there was one.
    private var cause: NetworkError?
    private var isDone = false

    init(
        _ clock: any Scheduler, _ connection: @escaping @Sendable () -> Observable<Element, NetworkError>,
        _ delay: @escaping @Sendable (NetworkError?) throws(NetworkError) -> Duration?,
        _ announcement: @escaping @Sendable (Duration, NetworkError?) -> Element
    ) {
        self.clock = clock
        self.connection = connection
        self.delay = delay
        self.announcement = announcement
    }

    var stream: Observable<Element, NetworkError> {
        Observable.concat([.deferred { self.next }, .deferred { self.wait }])
            .repeat(when: { $0.take(while: { [self] _ in !isDone }) })
    }

    private var next: Observable<Element, NetworkError> {
        cause = nil
        return connection().catch { error in
            self.cause = error
            return .empty()
        }
    }

    private var wait: Observable<Element, NetworkError> {
        let wanted: Duration?
        do throws(NetworkError) { wanted = try delay(cause) } catch { return .fail(error) }
        guard let wanted else {
            isDone = true
            return .empty()
        }
        // While the circuit is open, nothing is sent before it admits a request.
        let delay = max(wanted, (cause?.openCircuit?.upperBound ?? clock.now) - clock.now)
        return .concat([
            .just(announcement(delay, cause)),
            Observable<Void, Never>.timer(delay, on: clock).setFailureType(to: NetworkError.self).flatMap {
                _ in .empty()
            },
        ])
    }
}
