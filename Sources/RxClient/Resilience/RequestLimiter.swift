public import FoundationEssentials
import HTTPTypes
import RxHTTP
public import RxLite
import Synchronization

/// Limits the requests that run; further requests wait for their turn. Hosts take turns, and the requests to
/// one host are served in order of arrival.
///
/// ```swift
/// let limiter = RequestLimiter(perHost: RequestLimits(concurrency: 4, rate: .perSecond(10, burst: 20)))
/// client.response(GoodsList(keyword: "tea")).limited(by: limiter, host: "api.example.com")
/// ```
///
/// A client has a limiter if its configuration has limits. A 429 with `Retry-After` (RFC 6585 §4) holds all
/// requests to its host until then, for at most ``longestPause``. Safe from any thread.
public final class RequestLimiter: Sendable {
    /// The number of hosts kept before idle ones are dropped.
    private static let placeLimit = 1024

    /// The maximum time for which a 429 holds a host; zero disables it.
    public let longestPause: Duration

    private let shared: SharedClock
    var clock: any Scheduler { shared.scheduler }
    private let perHost: RequestLimits
    private let contents: Mutex<Contents>

    /// Creates a limiter without running requests.
    ///
    /// - Parameters:
    ///   - total: the limits of all hosts together.
    ///   - perHost: the limits of each host.
    ///   - longestPause: the maximum time for which a 429 holds a host. Default 60 s, as for retries.
    ///   - clock: the clock of the limiter. Default `nil`: the virtual clock of the first stream that it limits, or the
    ///     library's shared clock.
    ///   - currentDate: the current date, for a `Retry-After` with a date. Default: the date of the clock.
    public init(
        total: RequestLimits = RequestLimits(), perHost: RequestLimits = RequestLimits(),
        longestPause: Duration = .seconds(60), clock: (any Scheduler)? = nil,
        currentDate: (@Sendable () -> Date)? = nil
    ) {
        self.longestPause = longestPause
        shared = SharedClock(clock, currentDate)
        self.perHost = perHost
        contents = Mutex(Contents(total: total, perHost: perHost))
    }

    /// Takes the time of a stream, if that is virtual and the limiter has no clock yet.
    func adopt(_ scheduler: any Scheduler) { shared.adopt(scheduler) }

    /// The number of requests that are waiting.
    public var waitingCount: Int { contents.withLock { $0.queue.waitingCount } }

    /// The place of a host, created if it does not exist.
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

    /// Admits `waiter`, or adds it to the queue.
    ///
    /// - Returns: whether it has been admitted.
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

    /// Releases the waiter's place, or removes the waiter from the queue.
    func leave(_ waiter: Waiter) {
        change(at: clock.now) { contents in
            if waiter.isIn {
                contents.queue.leave(waiter.place.origin)
            } else if let ticket = waiter.ticket {
                contents.queue.withdraw(ticket, from: waiter.place.origin)
            }
        }
    }

    /// Holds a host for as long as its response asks.
    func pause(_ place: Place, because error: NetworkError) {
        guard error.code == .status, error.status?.code == 429,
            let wait = error.retryAfter(now: shared.date), min(wait, longestPause) > .zero
        else { return }
        let now = clock.now
        change(at: now) { contents in
            place.close(until: now + min(wait, longestPause))
            contents.hold(place)
        }
    }

    /// Changes the contents, then admits waiters that have a place now, and sets the timer for the next ones.
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
