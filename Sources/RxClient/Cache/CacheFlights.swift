import HTTPTypes
import RxHTTP
import RxLite
import Synchronization

/// The requests that are under way and that others for the same may join.
final class CacheFlights: Sendable {
    /// What requests must have in common.
    struct ID: Hashable {
        let key: CacheKey
        let method: HTTPRequest.Method
        let fields: HTTPFields
        /// Whose stages the answer goes through, and what is expected of it.
        let stages: [ObjectIdentifier]
    }

    /// One request that several wait for.
    final class Flight: Sendable {
        fileprivate let number: Int
        let response: Observable<Response, NetworkError>
        private let isKept = Atomic<Bool>(false)

        fileprivate init(_ number: Int, _ response: Observable<Response, NetworkError>) {
            self.number = number
            self.response = response
        }

        /// `true` for the first who wants to keep the answer.
        func claimKeeping() -> Bool { !isKept.exchange(true, ordering: .relaxed) }
    }

    private struct Contents {
        var flights: [ID: Flight] = [:]
        var count = 0
    }

    private let contents = Mutex(Contents())

    /// The flight of `id`, which is `response` if there is none. Its transfer ends with its last subscriber.
    func join(
        _ id: ID, or response: Observable<Response, NetworkError>
    ) -> (flight: Flight, isNew: Bool) {
        contents.withLock { contents in
            if let flight = contents.flights[id] { return (flight, false) }
            contents.count += 1
            let number = contents.count
            let landing = response.handleEvents(
                onEnd: { _ in self.land(id, number) }, onCancel: { self.land(id, number) })
            // Who joins in the moment of the end gets the answer, and starts nothing anew.
            let flight = Flight(number, landing.share(replay: 1, reset: .unused))
            contents.flights[id] = flight
            return (flight, true)
        }
    }

    private func land(_ id: ID, _ number: Int) {
        let landed = contents.withLock { contents in
            contents.flights[id]?.number == number ? contents.flights.removeValue(forKey: id) : nil
        }
        // Released outside the lock.
        withExtendedLifetime(landed) {}
    }
}
