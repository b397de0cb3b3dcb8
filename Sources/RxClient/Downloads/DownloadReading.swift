import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite

/// Writes the response to a file, after the bytes of an earlier attempt.
struct DownloadReading: Interceptor {
    let path: String
    /// The names of query parameters that do not identify the file.
    let ignored: Set<String>
    let files: any FileSystem

    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard let file = call[ReservedPath.self] else {
            return .fail(NetworkError(.file, "the path of the download is not reserved", request: request))
        }
        let download = Download(
            path: path, file: file, source: request.url, clock: call.scheduler, url: identity(of: request),
            isResumable: request.method == .get)
        let events = download.attempt { prepare in
            .deferred(on: call.scheduler) {
                var request = request
                prepare(&request)
                return next.transfers(request)
            }
        }
        let checked: Observable<DownloadEvent, NetworkError> = events.catch { error in
            error.code == .digestMismatch ? discard(file, with: error) : .fail(error)
        }
        return checked.map { event in
            call.session?.noteSuccess(of: call.stamp)
            return .output(event)
        }
        .mapError { $0.naming(request) }
    }

    /// The URL by which a partial file is found again.
    private func identity(of request: Request) -> String { request.url.identifying(ignoring: ignored) }

    /// The name, without ending, of the partial file in a folder, where the name of the file is unknown until the
    /// response. No server can name a file so, because the name is hidden.
    func draftName(for request: Request) -> String {
        let identity = request.method == .get ? identity(of: request) : "\(request.id)"
        return ".download-" + HexDigest.sha256(identity.utf8).prefix(32)
    }

    /// Removes the record, so that no attempt continues from the partial file: its bytes are wrong.
    private func discard(
        _ file: ReservedFile, with error: NetworkError
    ) -> Observable<DownloadEvent, NetworkError> {
        file.removeRecord().flatMap(.concat) { _ in .fail(error) }
    }
}

extension NetworkError {
    /// The same error, with this request if it has none.
    func naming(_ request: Request) -> NetworkError {
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
    /// The URL without user info, fragment and the query parameters with these names.
    fileprivate func identifying(ignoring names: Set<String>) -> String {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else {
            // A URL that cannot be parsed is recorded as a digest, which no other URL matches.
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
