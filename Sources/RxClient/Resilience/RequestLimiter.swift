public import FoundationEssentials
import HTTPTypes
import RxHTTP
public import RxLite
import Synchronization

/// Lets requests begin within limits; further requests wait for their turn. Hosts take turns, and for each host the
/// order is that of arrival.
///
/// ```swift
/// let limiter = RequestLimiter(perHost: RequestLimits(concurrency: 4, rate: .perSecond(10, burst: 20)))
/// client.response(GoodsList(keyword: "tea")).limited(by: limiter, host: "api.example.com")
/// ```
///
/// A client has one if its configuration has limits. A 429 with `Retry-After` (RFC 6585 §4) holds all requests to its
/// host until then, for at most ``longestPause``. Safe from any thread.
public final class RequestLimiter: Sendable {
    /// How many hosts are remembered before the idle ones are forgotten.
    private static let placeLimit = 1024

    /// How long a 429 may close a host; zero for not at all.
    public let longestPause: Duration

    let clock: any Scheduler
    private let currentDate: @Sendable () -> Date
    private let perHost: RequestLimits
    private let contents: Mutex<Contents>

    /// Creates a limiter with all places free.
    ///
    /// - Parameters:
    ///   - total: for all hosts together.
    ///   - perHost: for each host.
    ///   - longestPause: how long a 429 may close a host. Default 30 s.
    ///   - clock: keeps the time. Default: a clock of the library's.
    ///   - currentDate: what a `Retry-After` date is measured against. Default: the date by the clock.
    public init(
        total: RequestLimits = RequestLimits(), perHost: RequestLimits = RequestLimits(),
        longestPause: Duration = .seconds(30), clock: any Scheduler = ActorScheduler.shared,
        currentDate: (@Sendable () -> Date)? = nil
    ) {
        self.longestPause = longestPause
        self.clock = clock
        self.currentDate = currentDate ?? { clock.currentDate }
        self.perHost = perHost
        contents = Mutex(Contents(total: total, perHost: perHost))
    }

    /// How many requests wait at the moment.
    public var waitingCount: Int { contents.withLock { $0.queue.waitingCount } }

    /// The place of a host, made now if it is not there.
    func place(of host: String) -> Place {
        contents.withLock { contents in
            if let place = contents.places[host] { return place }
            if contents.places.count >= Self.placeLimit {
                contents.places = contents.places.filter { !$0.value.isIdle }
            }
            let place = Place(contents.queue.origin(host), perHost.rate)
            contents.places[host] = place
            return place
        }
    }

    /// Lets `waiter` in, or has it wait.
    ///
    /// - Returns: whether it is in.
    func enter(_ waiter: Waiter) -> Bool {
        let now = clock.now
        return change(at: now) { contents in
            guard contents.queue.enter(waiter.place.origin) else {
                waiter.ticket = contents.queue.wait(waiter, at: waiter.place.origin)
                return false
            }
            contents.admit(waiter, at: now)
            return true
        }
    }

    /// Gives the place back, or leaves the queue.
    func leave(_ waiter: Waiter) {
        change(at: clock.now) { contents in
            if waiter.isIn {
                contents.queue.leave(waiter.place.origin)
            } else if let ticket = waiter.ticket {
                contents.queue.withdraw(ticket, from: waiter.place.origin)
            }
        }
    }

    /// Closes a host for as long as its response asks for.
    func pause(_ place: Place, because error: NetworkError) {
        guard error.code == .status, error.status?.code == 429,
            let wait = error.retryAfter(now: currentDate()), min(wait, longestPause) > .zero
        else { return }
        let now = clock.now
        change(at: now) { contents in
            place.close(until: now + min(wait, longestPause))
            contents.hold(place)
        }
    }

    /// Changes the contents, lets in who finds a place then, and sees to it that the next one is.
    @discardableResult
    private func change<Result: Sendable>(at now: Duration, _ change: (inout Contents) -> Result) -> Result {
        let (result, admitted, alarm) = contents.withLock { contents in
            contents.release(at: now)
            let result = change(&contents)
            var admitted: [Waiter] = []
            while let waiter = contents.queue.next() {
                contents.admit(waiter, at: now)
                admitted.append(waiter)
            }
            return (result, admitted, contents.renewAlarm(at: now))
        }
        alarm.passed?.cancel()
        if let due = alarm.due { set(due, at: now) }
        for waiter in admitted { waiter.start() }
        return result
    }

    private func set(_ due: Due, at now: Duration) {
        let timer = clock.schedule(after: due.time - now) { [weak self] in
            guard let self else { return }
            self.change(at: max(self.clock.now, due.time)) { $0.forget(due) }
        }
        contents.withLock { $0.keep(timer, for: due) }?.cancel()
    }
}
