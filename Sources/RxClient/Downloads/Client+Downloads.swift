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
        return call(.download, endpoint, CallSettings(reader: reader)) { event, _ in
            if case .output(let output) = event { output as? DownloadEvent } else { nil }
        }
    }
}
