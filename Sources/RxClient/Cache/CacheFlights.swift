import RxCache
import RxHTTP
import RxLite
import Synchronization

/// The requests that are under way and that others for the same may join.
final class CacheFlights: Sendable {
    /// What is equal where two requests are one. A request gets the response of another only where everything that
    /// shapes the outcome up to the response is in here, so what is not part of it must come after the joining.
    struct ID: Hashable {
        let key: CacheKey
        /// The number of the session's account. The key has its name, which stays the same when it logs in anew.
        let account: Int?
        /// The request before signature, credential and cookies.
        let request: Request.Shape
        let mode: CacheMode
        let lifetime: Duration?
        let tags: Set<String>
        /// What the response goes through before it is given to all.
        let stages: Stages
    }

    /// What a response goes through before it is given to all who wait for it.
    enum Stages: Hashable {
        /// A closure of the caller's: that of the first one is run.
        case byHand
        case client(ClientStages)
    }

    /// One request that several wait for. It does not hold its response, which holds the requests that wait.
    final class Flight: Sendable {
        fileprivate let number: Int
        /// When the first one began.
        let start: CacheHistory.Moment
        private let isKept = Atomic<Bool>(false)
        private let sentFields = Mutex<SentFields?>(nil)

        fileprivate init(_ number: Int, _ start: CacheHistory.Moment) {
            self.number = number
            self.start = start
        }

        /// `true` for the first who wants to keep the response.
        func claimKeeping() -> Bool { !isKept.exchange(true, ordering: .relaxed) }

        /// Notes where the cookies of the next exchange will be told.
        func note(_ fields: SentFields) { sentFields.withLock { $0 = fields } }

        /// Whether it has been sent without these cookies.
        fileprivate func isSentWithout(_ cookies: String) -> Bool {
            guard let sent = sentFields.withLock({ $0 })?.cookies else { return false }
            return sent != cookies
        }
    }

    private struct Contents {
        var flights: [ID: (flight: Flight, response: Observable<Response, NetworkError>)] = [:]
        var count = 0
    }

    private let contents = Mutex(Contents())

    /// The flight of `id`, which is `response` if there is none. Its transfer ends with its last subscriber.
    ///
    /// A flight is forgotten before its response goes out, so that whoever begins after a response gets another one.
    ///
    /// - Parameters:
    ///   - cookies: what would be sent now; a flight with others is not joined.
    ///   - start: when the request began.
    ///   - history: tells of changes since a flight began, after which it is not joined (RFC 9111 §4.4).
    func join(
        _ id: ID, cookies: String = "", since start: CacheHistory.Moment, in history: CacheHistory,
        or response: Observable<Response, NetworkError>
    ) -> (flight: Flight, response: Observable<Response, NetworkError>, isNew: Bool) {
        let names = CacheSelection.names(of: id.key, tags: id.tags)
        return contents.withLock { contents in
            if let (flight, response) = contents.flights[id], !flight.isSentWithout(cookies),
                !history.hasChanged(names, since: flight.start)
            {
                return (flight, response, false)
            }
            contents.count += 1
            let number = contents.count
            let landing = response.handleEvents(
                onNext: { _ in self.land(id, number) }, onEnd: { _ in self.land(id, number) },
                onCancel: { self.land(id, number) })
            // Who has found the flight before it landed, and subscribes after that, gets the response all the same.
            let flight = Flight(number, start)
            let shared = landing.share(replay: 1, reset: .unused)
            contents.flights[id] = (flight, shared)
            return (flight, shared, true)
        }
    }

    private func land(_ id: ID, _ number: Int) {
        let landed = contents.withLock { contents in
            contents.flights[id]?.flight.number == number ? contents.flights.removeValue(forKey: id) : nil
        }
        // Released outside the lock.
        withExtendedLifetime(landed) {}
    }
}
