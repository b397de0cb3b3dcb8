internal import CLibcurl
internal import HTTPTypes
internal import RxHTTP

extension Transfer {
    /// Decides whether HTTP/3 is asked for. Without TLS libcurl takes that for an error.
    func decideHTTP3() {
        attempts.http3 = .none
        guard let place = queuePlace.negotiation?.place else { return }
        switch multi.settings.http3 {
        case .never: break
        case .whenNamed:
            if multi.alternatives?.offersHTTP3(place, needsName: true) == true { attempts.http3 = .raced }
        case .always:
            if multi.alternatives?.offersHTTP3(place, needsName: false) == true { attempts.http3 = .raced }
        case .only: attempts.http3 = .only
        }
    }

    /// Notes who won the race, if this transfer has begun one.
    func noteRace() {
        guard attempts.http3 == .raced, let place = queuePlace.negotiation?.place,
            let alternatives = multi.alternatives
        else {
            return
        }
        if response.httpVersion == .http3 {
            alternatives.noteSuccess(place)
        } else if let handle, handle.isOnNewConnection {
            alternatives.noteFailure(place)
            // Requests that do not race cannot use the connection, and the next one that races must not.
            handle.forbidReuse()
            handle.isSpent = true
        }
    }

    /// Notes what the response says of alternatives.
    func noteAlternatives() {
        guard let alternatives = multi.alternatives, let place = queuePlace.negotiation?.place,
            let httpVersion = response.httpVersion, let head = response.head
        else {
            return
        }
        // Its own alternatives are to be ignored (RFC 7838 §6).
        guard response.status?.code != 421 else {
            if response.httpVersion == .http3 { alternatives.noteMisdirected(place, on: multi.loop) }
            return
        }
        guard let value = head[.alternativeServices], multi.configuration.tls.verifiesServer else { return }
        alternatives.take(value, from: place, over: httpVersion, age: head[.age], on: multi.loop)
    }

    /// Notes that a connection of HTTP/3 broke down by what the server sent.
    func noteFaultOfHTTP3(_ error: CurlError) {
        guard attempts.http3 == .raced, [CURLE_HTTP3, CURLE_QUIC_CONNECT_ERROR].contains(error.code),
            let place = queuePlace.negotiation?.place
        else { return }
        multi.alternatives?.noteFailure(place)
    }

    /// Whether another socket may be opened for datagrams. libcurl takes a server that refuses each handshake for one
    /// that restarts, and begins anew without a pause.
    func allowsDatagrams() -> Bool {
        attempts.datagramSockets += 1
        return attempts.datagramSockets <= Self.datagramSocketLimit
    }

    /// A host has fewer addresses.
    private static let datagramSocketLimit = 32
}

extension HTTPField.Name {
    fileprivate static let alternativeServices = HTTPField.Name("Alt-Svc")!
}
