internal import RxHTTP

extension Transfer {
    /// Whether it looks out for a connection that is being made (`CURLOPT_PIPEWAIT`). Without TLS only one that
    /// speaks HTTP/2 from the first byte does.
    var expectsSharing: Bool {
        multi.settings.httpVersion == .http2PriorKnowledge || queuePlace.negotiation?.expectsSharing == true
    }

    /// Whether it goes out over HTTP/1.1, as far as that is known. An origin that has not been heard of is taken
    /// for one that speaks the highest version there is.
    var speaksHTTP1: Bool {
        switch multi.settings.httpVersion {
        case .automatic, .http1: true
        case .http2, .http3, .http3Only:
            target.isPlain || queuePlace.negotiation?.version.map { !$0.isMultiplexed } ?? false
        case .http2PriorKnowledge: false
        }
    }

    /// Whether the connection may be that of others too.
    var isMultiplexed: Bool { response.httpVersion?.isMultiplexed ?? false }

    /// Tells the others of the version that the origin speaks.
    func noteVersion() {
        guard let version = response.httpVersion else { return }
        queuePlace.negotiation?.note(version)
        if isMultiplexed { multi.queue.multiplex(self) }
        noteRace()
    }
}

extension ConnectionSettings {
    /// Whether the version of a request's connection is found out only when there is one.
    func negotiates(_ target: CheckedURL) -> Bool { httpVersion == .http2 && !target.isPlain }
}
