internal import RxHTTP

extension Transfer {
    /// Whether the transfer waits for a connection that is being made (`CURLOPT_PIPEWAIT`). Without TLS, only
    /// HTTP/2 with prior knowledge does.
    var expectsSharing: Bool {
        request.upgrade == nil
            && (multi.settings.httpVersion == .http2PriorKnowledge
                || queuePlace.negotiation?.expectsSharing == true)
    }

    /// Whether the request is sent over HTTP/1.1, as far as this is known. An unknown origin is assumed to
    /// speak the highest version.
    var speaksHTTP1: Bool {
        switch multi.settings.httpVersion {
        case .automatic, .http1: true
        case .http2, .http3, .http3Only:
            target.isPlain || queuePlace.negotiation?.version.map { !$0.isMultiplexed } ?? false
        case .http2PriorKnowledge: false
        }
    }

    /// Whether other transfers may use the connection at the same time.
    var isMultiplexed: Bool { response.httpVersion?.isMultiplexed ?? false }

    /// Notes for other transfers which version the origin speaks.
    func noteVersion() {
        guard let version = response.httpVersion else { return }
        queuePlace.negotiation?.note(version)
        if isMultiplexed { multi.queue.multiplex(self) }
        noteRace()
    }
}

extension ConnectionSettings {
    /// Whether the version is only known once there is a connection.
    func negotiates(_ target: CheckedURL) -> Bool { httpVersion == .http2 && !target.isPlain }
}
