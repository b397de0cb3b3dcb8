import FoundationEssentials
import HTTPTypes
public import RxHTTP
public import RxLite

extension Client {
    /// Downloads to a file, and resumes an earlier download to the same path after any interruption: a failure, a
    /// cancel, the end of the process.
    ///
    /// ```swift
    /// client.download(.get("/map.osm"), to: "/var/lib/app/map.osm")
    ///     .subscribe(onNext: { event in
    ///         switch event {
    ///         case .progress(let progress): show(progress.fraction)
    ///         case .finished(let file): show(file.size)
    ///         }
    ///     })
    /// ```
    ///
    /// The file appears at `path` whole or not at all, and replaces what was there. Until then its bytes are beside it
    /// in `path.part`, with a record of what they are in `path.part.json`. They are only added to if the server says
    /// that the file is the same: the record's URL, `If-Range` with the strong entity tag or the date, and a
    /// `Content-Range` that fits exactly (RFC 9110 §13.1.5, §14). Otherwise it starts over. The body is requested
    /// uncompressed, and has no size limit.
    ///
    /// A failure leaves what has come for the next attempt, be it the client's retry policy's or a later download. An
    /// error status fails with `status` and never reaches a file; nor does a 204 or 205, which fails with `noContent`
    /// and leaves the file at `path`. Two downloads to one path at the same time are refused with `file`, those of
    /// other processes included.
    ///
    /// - Parameters:
    ///   - endpoint: what is asked for. Only GET can resume; other methods start over.
    ///   - path: where the file is to be. Its folder must exist.
    ///   - ignored: names of query parameters that do not say which file it is, such as signatures that the URL came
    ///     with. Additions of the client's own signature never count.
    ///   - files: where `path` is. Default: the configuration's.
    /// - Returns: the progress, at most 20 values a second and always the last; then what is at the path.
    public func download(
        _ endpoint: some Endpoint, to path: String, ignoringQuery ignored: Set<String> = [],
        in files: (any FileSystem)? = nil
    ) -> Observable<DownloadEvent, NetworkError> {
        drafted(endpoint, isWhole: false) { draft throws(NetworkError) in
            let request = try draft.unsigned()
            guard let files = files ?? self.configuration.files else {
                throw NetworkError(.file, "the client's configuration has no files", request: request)
            }
            let attempts = try self.attempts(of: draft, retrying: draft.options.retry)
            let session = self.session(for: draft)
            let envelope = self.envelope(of: draft)
            let download = Download(
                path: path, files: files, clock: self.scheduler,
                url: request.url.identifying(ignoring: ignored), isResumable: request.method == .get)
            return download.attempt { prepare in
                self.send(
                    attempts, session: session, cookies: self.cookies(for: draft),
                    through: [.failover, .circuitBreaker, .limits], preparing: prepare
                ) { events, request in
                    events.checkStatus(of: request, accepting: [416], envelope: envelope)
                }
            }
            .handleEvents(onNext: { _ in session?.noteSuccess(of: attempts.stamp) })
            .mapError { $0.naming(request) }
            .relogin(through: session, replay: attempts.replay, trace: attempts.trace)
            .retry(attempts.policy)
            .deadline(of: attempts)
            .traced(by: attempts.trace, isWhole: false)
            .alone(at: path, in: files, for: request)
        }
    }
}

extension Observable where Failure == NetworkError {
    /// Fails while another download to the path runs.
    fileprivate func alone(
        at path: String, in files: any FileSystem, for request: Request
    ) -> Observable {
        Observable(scheduler: scheduler) { observer in
            guard let leave = BusyPaths.take(path, in: files) else {
                let error = NetworkError(
                    .file, "another download to \(path) is running", request: request)
                return observer.scope.perform { observer.fail(error) }
            }
            let scope = observer.scope.child()
            // A download that follows from the end of this one finds the path free.
            scope.onClose(leave)
            let lock: Observable<@Sendable () -> Void, NetworkError> =
                files.lock(Download.draft(of: path)).mapError { $0.naming(request) }
            lock
                .flatMap(.concat) { unlock -> Observable in
                    scope.onClose(unlock)
                    return self
                }
                .subscribe(
                    Observer(scope: scope, next: observer.next) { completion in
                        scope.close()
                        observer.end(completion)
                    })
        }
    }
}

extension NetworkError {
    /// The same error; of one that knows no request, about this one.
    fileprivate func naming(_ request: Request) -> NetworkError {
        guard requestID == nil else { return self }
        var error = self
        let named = NetworkError(code, message, request: request)
        error.requestID = named.requestID
        error.method = named.method
        error.url = named.url
        error.isReplayable = named.isReplayable
        error.isIdempotent = named.isIdempotent
        return error
    }
}

extension URL {
    /// Without user info, fragment and the query parameters of these names.
    fileprivate func identifying(ignoring names: Set<String>) -> String {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else {
            // What cannot be taken apart is recorded as nothing that another URL could be.
            return "sha256 " + HexDigest.sha256(absoluteString.utf8)
        }
        (parts.user, parts.password, parts.fragment) = (nil, nil, nil)
        if !names.isEmpty {
            let kept = parts.queryItems?.filter { !names.contains($0.name) }
            parts.queryItems = kept?.isEmpty == false ? kept : nil
        }
        return parts.string ?? "sha256 " + HexDigest.sha256(absoluteString.utf8)
    }
}
