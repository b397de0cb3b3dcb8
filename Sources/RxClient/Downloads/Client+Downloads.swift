import FoundationEssentials
import HTTPTypes
public import RxHTTP
public import RxLite

extension Client {
    /// Downloads to a file, and resumes an earlier download to the same path after any interruption: a
    /// failure, a cancellation, the end of the process.
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
    /// The file appears at `path` atomically, and replaces any earlier file. Until then its bytes are in
    /// `path.part`, with a record about them in `path.part.json`. A download resumes only if the server
    /// confirms that the file is the same: the record's URL, `If-Range` with the strong entity tag or the
    /// date, and a `Content-Range` that matches exactly (RFC 9110 §13.1.5, §14). Otherwise it starts over.
    /// The body is requested without compression, and has no size limit.
    ///
    /// If `path` is that of an existing folder, the response names the file: `filename*` or `filename` of
    /// `Content-Disposition` (RFC 6266, RFC 8187), or else the last component of the URL after redirects, or else
    /// `download`. Of a path only the last component counts, without control characters, dots at either end and the
    /// endings of partial files, and shortened to 255 bytes. An existing file of that name stays: the new one gets a
    /// number, `map (1).osm`. ``DownloadedFile/path`` has the result. Until then the partial file is hidden in the
    /// folder, `.download-….part`.
    ///
    /// After a failure, the partial file stays for the next attempt, either a retry or a later download. An
    /// error status fails with `status` and never reaches a file; nor does a 204 or 205, which fails with
    /// `noContent` and leaves the file at `path` unchanged. A second download to the same file at the same
    /// time, or of the same URL to the same folder, fails with `file`, even if it spells the path otherwise or belongs to
    /// another process. One that begins after a cancel waits until the cancelled one has stopped writing.
    ///
    /// - Parameters:
    ///   - endpoint: the endpoint of the file. Only GET requests can resume; other methods start over.
    ///   - path: the path of the file, whose folder must exist, or of a folder. A symbolic link to a file is replaced.
    ///   - ignored: the names of query parameters that do not identify the file, such as the signature of a
    ///     presigned URL. Parameters of the client's signature are always ignored.
    ///   - files: the file system of `path`. Default: the configuration's, or else the transport's.
    /// - Returns: the progress, at most 20 values per second and always the last one; then the downloaded
    ///   file.
    public func download(
        _ endpoint: some Endpoint, to path: String, ignoringQuery ignored: Set<String> = [],
        in files: (any FileSystem)? = nil
    ) -> Observable<DownloadEvent, NetworkError> {
        let reader = DownloadReading(
            path: path, ignored: ignored, files: files ?? configuration.files ?? transport.files)
        return call(.download, endpoint, CallOverrides(reader: reader)) { event, call throws(NetworkError) in
            try call.output(in: event)
        }
    }
}

/// An event of a download.
public enum DownloadEvent: Sendable {
    /// The bytes of the file on the disk, including the bytes of earlier downloads.
    case progress(TransferProgress)
    /// The complete file is at its path, synced to the disk. The last value.
    case finished(DownloadedFile)
}

/// A file that has been downloaded.
public struct DownloadedFile: Sendable {
    /// The path of the file: the one given, or in a given folder.
    public var path: String
    /// Its size in bytes.
    public var size: Int64
    /// The number of bytes that were on the disk before the last request.
    public var resumedFrom: Int64
    /// The head of the last response: 200 for the whole file, 206 for a missing part, 416 if nothing was
    /// missing.
    public var head: ResponseHead
}

// MARK: - Reading

/// Writes the response to a file, after the bytes of an earlier attempt.
struct DownloadReading: Interceptor {
    let path: String
    /// The names of query parameters that do not identify the file.
    let ignored: Set<String>
    let files: any FileSystem

    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        // ``PathReservation``, an earlier stage, sets it.
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
            call.session?.recordSuccess(of: call.credentialVersion)
            return .output(event)
        }
        .mapError { $0.naming(request) }
    }

    /// The URL by which a partial file is found again: without a signature, since attempts are signed later.
    /// A download in parts takes it before signing, too.
    private func identity(of request: Request) -> String { request.url.identifying(ignoring: ignored) }

    /// The name, without ending, of the partial file in a folder, where the name of the file is unknown until the
    /// response. ``FileName`` lets no server name a file so, because the name is hidden. A later process finds the
    /// partial file of a GET by it, so it must stay the same.
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
    /// This error, attributed to `request` if it names no request yet. It keeps its attempt and credential, which
    /// `attributed(to:)` replaces; another property that says something of a request belongs in both.
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
    /// The URL without user info, fragment and the query parameters with these names. Records of downloads, also of
    /// those in parts, store it: in another form, partial files would not be continued.
    package func identifying(ignoring names: Set<String>) -> String {
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

/// The reserved path of a download, which the stage ``PathReservation`` sets.
enum ReservedPath: CallValueKey {
    static var initial: ReservedFile? { nil }
}
