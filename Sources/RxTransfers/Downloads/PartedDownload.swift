import FoundationEssentials
import HTTPTypes
public import RxClient
public import RxHTTP
public import RxLite

/// Downloads whose parts arrive side by side, and whose content is proven by digests.
public enum PartedDownload {
    /// The number of parts.
    public struct Parts: Sendable {
        let maxConcurrency: Int
        let minPartSize: Int64
        /// Whether the file is split only if the server says that it offers ranges.
        let asksFirst: Bool
        /// Whether there is one request at first, and more if they make the download faster.
        let isGradual: Bool

        /// As many as help, up to 16, of at least 1 MiB, if the server offers ranges (`Accept-Ranges`).
        ///
        /// The download starts with one request. As long as it has more than a second left, and has become faster by a
        /// quarter since the last time, it gets four times as many.
        public static let automatic = Parts(
            maxConcurrency: 16, minPartSize: 1 << 20, asksFirst: true, isGradual: true)

        /// This number of parts from the start, up to 64, of whatever size, unless the server refuses ranges.
        public static func count(_ count: Int) -> Parts {
            Parts(
                maxConcurrency: max(1, min(count, PartedPlan.maxPartCount)), minPartSize: 1, asksFirst: false,
                isGradual: false)
        }
    }

    /// A file that has been downloaded.
    public struct File: Sendable, Equatable {
        /// The path of the file.
        public var path: String
        /// Its size in bytes.
        public var size: Int64
        /// The digest that it has been compared with, the strongest of several; `nil` if there was none.
        public var digest: TransferDigest?
    }

    /// An event of a download.
    public enum Event: Sendable {
        /// So many bytes are on the disk from earlier runs, and the rest comes in so many parts.
        case started(from: Int64, parts: Int)
        /// The bytes on the disk, at most 20 values a second and always the last one. It goes back if the download
        /// starts over.
        case progress(TransferRate)
        /// A part was interrupted by this failure, and goes on after a wait.
        case paused(NetworkError, for: Duration)
        /// The server has another object now, or refuses ranges: the download goes on with a request for the whole.
        case startedOver
        /// The complete file is at its path, synced to the disk. The last value.
        case finished(File)
    }

    /// The options of a download.
    public struct Options: Sendable {
        /// A digest that the file must have, in addition to those that the server sends. Default none.
        public var digest: TransferDigest?
        /// Whether a file without any digest to compare with fails with `digestMismatch`. Default false.
        public var requiresDigest = false
        /// The most failures of a part in a row, without progress of any between, after which the download goes on. Default 5.
        public var retries = 5
        /// The wait after each failure; a server's `Retry-After` is the least wait. Default: full jitter from 300 ms up to
        /// 30 s.
        public var backoff: Backoff = .fullJitter()
        /// The limit of bytes per second, which other transfers may share. Default none.
        public var bandwidth: TransferBandwidth?
        /// The names of query parameters that do not identify the file, such as the signature of a presigned URL.
        public var ignoredQuery: Set<String> = []

        /// Creates the default options.
        public init() {}
    }
}

extension Client {
    /// Downloads to a file in several parts at the same time, and resumes an earlier download to the same path.
    ///
    /// ```swift
    /// var options = PartedDownload.Options()
    /// options.digest = TransferDigest(.sha256, hexadecimal: published)
    /// let download = client.download(
    ///     .get("/map.osm"), to: "/var/lib/app/map.osm", parts: .automatic, options: options)
    /// ```
    ///
    /// The first request is for the whole file. If its response has a strong entity tag and a length, and ranges are offered,
    /// the rest is split, and each further part has its own request, with `If-Range`. When a part is complete, the one with
    /// most left is split, so that all requests are busy up to the end. A server that refuses the parts gets one request for
    /// what is missing. If the object changes, everything starts over, once; a second change fails with
    /// `contentChanged`. Two versions are never mixed.
    ///
    /// Until the end the bytes are beside the file, in `path.part`, in which all parts are written side by side, with a
    /// record in `path.part.json`. After a failure, a cancellation or the end of the process, the same call, or a
    /// download in one part, continues from there; one in one part keeps the first of several parts. At the end the
    /// content is compared with the digests that the server sent (`Repr-Digest`, `Content-Digest`, `x-amz-checksum-…`,
    /// `Content-MD5`), and with the one in the options; content with another digest fails with `digestMismatch`, and no
    /// file appears. The file appears at its path as a whole, and replaces an earlier one.
    ///
    /// - Parameters:
    ///   - endpoint: the endpoint of the file, with the method GET.
    ///   - path: the path of the file, whose folder must exist.
    ///   - parts: the number of parts.
    ///   - options: all other options.
    ///   - files: the file system of `path`. Default: the configuration's, or else the transport's.
    /// - Returns: the progress, then the file. Fails with `file` while another download to the path runs, with
    ///   `invalidParameters` for another method than GET, and as `download(_:to:ignoringQuery:in:)` does.
    public func download(
        _ endpoint: some Endpoint, to path: String, parts: PartedDownload.Parts,
        options: PartedDownload.Options = PartedDownload.Options(), in files: (any FileSystem)? = nil
    ) -> Observable<PartedDownload.Event, NetworkError> {
        let files = files ?? configuration.files ?? transport.files
        let clock = transport.scheduler
        return .deferred(on: clock) { [self] () throws(NetworkError) in
            guard endpoint.method == .get else {
                throw NetworkError(.invalidParameters, "a download in parts needs the method GET")
            }
            let request = try serialized(endpoint.with { $0.isSigned = false })
            let url = request.url.identifying(ignoring: options.ignoredQuery)
            let send: PartedRun.Send = { fields in
                self.stream(
                    endpoint.with { options in
                        options.retry = .never
                        options.presentation = .hidden
                        for field in fields { options.headers[field.name.rawName] = field.value }
                    })
            }
            let run = Observable<PartedDownload.Event, NetworkError>.deferred(on: clock) {
                files.reserving(path, on: clock) { file in
                    Observable(scheduler: clock) { observer in
                        let run = PartedRun(
                            file, url: url, parts, options, on: clock, into: observer, send: send)
                        observer.scope.perform { run.start() }
                    }
                }
            }
            return run.catch { error -> Observable<PartedDownload.Event, NetworkError> in
                guard error.code == .contentChanged else { return .fail(error) }
                return .concat([.just(.startedOver), run])
            }
        }
    }
}
