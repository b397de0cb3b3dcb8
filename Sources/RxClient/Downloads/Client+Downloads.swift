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
        let reader = DownloadReading(path: path, ignored: ignored, files: files ?? configuration.files)
        return call(.download, endpoint, CallSettings(reader: reader)) { event in
            if case .output(let output) = event { output as? DownloadEvent } else { nil }
        }
    }
}
