internal import CLibcurl
internal import HTTPTypes
internal import RxHTTP

extension Transfer {
    /// Decides whether the transfer asks for HTTP/3. libcurl treats HTTP/3 without TLS as an error.
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

    /// Notes the result of the race, if this transfer has started one.
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
            // Transfers without a race cannot use the connection, and the next one with a race must not.
            handle.forbidReuse()
            handle.isSpent = true
        }
    }

    /// Notes the alternatives that the response advertises.
    func noteAlternatives() {
        guard let alternatives = multi.alternatives, let place = queuePlace.negotiation?.place,
            let httpVersion = response.httpVersion, let head = response.head
        else {
            return
        }
        // The alternatives of a 421 must be ignored (RFC 7838 §6).
        guard response.status?.code != 421 else {
            if response.httpVersion == .http3 { alternatives.noteMisdirected(place, on: multi.loop) }
            return
        }
        guard let value = head[.alternativeServices], multi.configuration.tls.verifiesServer else { return }
        alternatives.take(value, from: place, over: httpVersion, age: head[.age], on: multi.loop)
    }

    /// Notes that an HTTP/3 connection failed because of data from the server.
    func noteFaultOfHTTP3(_ error: CurlError) {
        guard attempts.http3 == .raced, [CURLE_HTTP3, CURLE_QUIC_CONNECT_ERROR].contains(error.code),
            let place = queuePlace.negotiation?.place
        else { return }
        multi.alternatives?.noteFailure(place)
    }

    /// Whether another socket may be opened for datagrams. If a server refuses each handshake, libcurl
    /// assumes that it restarts, and tries again without a pause.
    func allowsDatagrams() -> Bool {
        attempts.datagramSockets += 1
        return attempts.datagramSockets <= Self.datagramSocketLimit
    }

    /// More than the number of addresses of a host.
    private static let datagramSocketLimit = 32
}

extension HTTPField.Name {
    fileprivate static let alternativeServices = HTTPField.Name("Alt-Svc")!
}
