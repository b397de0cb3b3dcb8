import CLibcurl
import HTTPTypes
import RxHTTP

extension CurlTransport {
    /// Throws if the request may only be sent over HTTP/3 and cannot be.
    func checkVersion(_ target: CheckedURL, of request: Request) throws(NetworkError) {
        guard multi.settings.http3 == .only else { return }
        if target.isPlain {
            throw NetworkError(.invalidURL, "HTTP/3 requires an https URL", request: request)
        }
        let configurationError: String? =
            if !features.hasHTTP3 {
                "\(features) does not support HTTP/3"
            } else if !features.usesHTTP3 {
                "HTTP/3 requires libcurl 8.5 or later with HTTP/2, and this is \(features)"
            } else if !multi.settings.isDirect {
                "HTTP/3 cannot use a proxy, not even the environment's, or a Unix socket"
            } else {
                nil
            }
        if let configurationError {
            throw NetworkError(.invalidConfiguration, "httpVersion: \(configurationError)", request: request)
        }
    }
}

/// When requests of a transport ask for HTTP/3.
enum HTTP3Use {
    /// Never: it is not configured, this libcurl is not used for it, or there is a proxy or a Unix socket.
    case never
    /// Once the origin has advertised it (`Alt-Svc`).
    case whenNamed
    /// From the first request on, with a fallback.
    case always
    /// From the first request on, without a fallback.
    case only

    init(
        _ configuration: CurlTransport.Configuration, _ features: LibcurlFeatures, isDirect: Bool
    ) {
        let isPossible = features.usesHTTP3 && isDirect
        switch configuration.httpVersion {
        case .automatic: self = isPossible && configuration.tls.verifiesServer ? .whenNamed : .never
        case .http3: self = isPossible ? .always : .never
        case .http3Only: self = .only
        case .http1, .http2, .http2PriorKnowledge: self = .never
        }
    }
}

/// How one transfer asks for HTTP/3.
enum HTTP3Request {
    case none
    /// In a race with the lower versions (`CURL_HTTP_VERSION_3`).
    case raced
    /// Without a fallback (`CURL_HTTP_VERSION_3ONLY`).
    case only
}

extension Transfer {
    /// Decides whether the transfer asks for HTTP/3. libcurl treats HTTP/3 without TLS as an error.
    func decideHTTP3() {
        attempts.http3 = .none
        guard let origin = queueState.negotiation?.origin else { return }
        switch multi.settings.http3 {
        case .never: break
        case .whenNamed:
            if multi.alternatives?.offersHTTP3(origin, needsName: true) == true { attempts.http3 = .raced }
        case .always:
            if multi.alternatives?.offersHTTP3(origin, needsName: false) == true { attempts.http3 = .raced }
        case .only: attempts.http3 = .only
        }
    }

    /// Records the result of the race, if this transfer has started one.
    func recordRace() {
        guard attempts.http3 == .raced, let origin = queueState.negotiation?.origin,
            let alternatives = multi.alternatives
        else {
            return
        }
        if response.httpVersion == .http3 {
            alternatives.recordSuccess(origin)
        } else if let handle, handle.isOnNewConnection {
            alternatives.recordFailure(origin)
            // Transfers without a race cannot use the connection, and the next one with a race must not.
            handle.forbidReuse()
            handle.mustDiscard = true
        }
    }

    /// Records the alternatives that the response advertises.
    func recordAlternatives() {
        guard let alternatives = multi.alternatives, let origin = queueState.negotiation?.origin,
            let httpVersion = response.httpVersion, let head = response.head
        else {
            return
        }
        // The alternatives of a 421 must be ignored (RFC 7838 §6).
        guard response.status?.code != 421 else {
            if response.httpVersion == .http3 { alternatives.recordMisdirected(origin, on: multi.loop) }
            return
        }
        guard let value = head[.alternativeServices], multi.configuration.tls.verifiesServer else { return }
        alternatives.take(value, from: origin, over: httpVersion, age: head[.age], on: multi.loop)
    }

    /// Records that an HTTP/3 connection failed because of data from the server.
    func recordHTTP3Fault(_ error: CurlError) {
        guard attempts.http3 == .raced, [CURLE_HTTP3, CURLE_QUIC_CONNECT_ERROR].contains(error.code),
            let origin = queueState.negotiation?.origin
        else { return }
        multi.alternatives?.recordFailure(origin)
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
