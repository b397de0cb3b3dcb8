import FoundationEssentials
public import RxClient
public import RxHTTP
public import RxLite

extension Client {
    /// Uploads a file, bytes or a stream, and goes on after any interruption: a failure of the network, a cancellation, the
    /// end of the process.
    ///
    /// ```swift
    /// client.upload(.file("/home/ann/film.mp4"), to: .post("/films"), by: .resumable())
    ///     .subscribe(onNext: { event in
    ///         switch event {
    ///         case .progress(let rate): show(rate.fraction, rate.timeLeft)
    ///         case .paused(let error, for: let delay): show(error.message, delay)
    ///         case .finished(let response): show(response.status)
    ///         case .started, .resumed, .verified: break
    ///         }
    ///     })
    /// ```
    ///
    /// The place of the upload on the server is in a record beside the file before content relies on it. After a cancellation
    /// or the end of the process, the same call goes on where the server stopped; a file that has changed meanwhile fails with
    /// `contentChanged`. While one upload with a record runs, another one with it, of any process,
    /// fails with `locked`. The record is removed when the upload is complete.
    ///
    /// Requests to the endpoint's origin are the endpoint's: with its header fields, its credential and its signature. The
    /// place that the server names may be on another origin, which gets none of these. After an interruption the server is
    /// asked what it has, so that a request that is not idempotent is never sent twice: only if the server may have completed
    /// the upload in its first request, and named no place to ask at, the upload fails.
    ///
    /// - Parameters:
    ///   - content: the content, as it is sent.
    ///   - endpoint: the endpoint of the upload, without a body. It makes the output from the last response.
    ///   - method: the protocol and its options. Default ``UploadMethod/resumable(isCareful:isKnown:options:)``.
    ///   - records: the place of the record. Default beside the file; none for bytes. A stream has none.
    ///   - files: the file system of the file and of the record. Default: the configuration's, or else the transport's.
    /// - Returns: the events of the upload. Fails with the last failure when too many followed each other without progress,
    ///   with `status` for a refusal, with `digestMismatch` if the server has other content, and with the codes above.
    public func upload<E: Endpoint>(
        _ content: UploadContent, to endpoint: E, by method: UploadMethod = .resumable(),
        records: UploadRecords = .automatic, in files: (any FileSystem)? = nil
    ) -> Observable<UploadEvent<E.Output>, NetworkError> {
        let files = files ?? configuration.files ?? transport.files
        return Observable<UploadEvent<UploadResult>, NetworkError>(scheduler: transport.scheduler) {
            observer in
            guard observer.scope.isOpen else { return }
            let sender: TransferSender
            do throws(NetworkError) { sender = try TransferSender(endpoint, of: self) } catch {
                return observer.scope.perform { observer.fail(error) }
            }
            let run = method.run(content, sender, records, in: files, into: observer)
            observer.scope.perform { run.start() }
        }
        .map { [self] event throws(NetworkError) -> UploadEvent<E.Output> in
            try event.map { result throws(NetworkError) in
                let request = try serialized(endpoint.with { $0.isSigned = false })
                let response = Response(
                    head: result.head, body: result.body, request: request, decoder: configuration.decoder)
                return try output(of: endpoint, from: response)
            }
        }
    }
}

extension UploadMethod {
    /// The running upload by this protocol.
    fileprivate func run(
        _ content: UploadContent, _ sender: TransferSender, _ records: UploadRecords,
        in files: any FileSystem, into observer: Observer<UploadEvent<UploadResult>, NetworkError>
    ) -> UploadRunBase {
        let dialect: any UploadDialect
        switch kind {
        case .draft(let isCareful, let isKnown):
            dialect = DraftDialect(
                isCareful: isCareful, isKnown: isKnown, partDigest: options.partDigest,
                partSize: options.partSize)
        case .tus(let metadata, let creationSize, let concurrency):
            var tus = TusDialect(
                metadata: metadata, partSize: options.partSize, checksum: options.partDigest,
                creationSize: creationSize)
            if case .stream(_, length: nil) = content.kind { tus.isDeferred = true }
            if concurrency > 1, !content.isStream {
                return ConcatenatedRun(
                    content, sender, self, tus, concurrency: concurrency, records, in: files, into: observer)
            }
            dialect = tus
        case .multipart(let concurrency):
            return S3MultipartRun(
                content, sender, self, concurrency: concurrency, records, in: files, into: observer)
        }
        return UploadRun(content, sender, self, dialect, records, in: files, into: observer)
    }
}
