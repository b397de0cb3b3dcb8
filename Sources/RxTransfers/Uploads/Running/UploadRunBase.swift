import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite

/// The last response of an upload: its head and its body.
typealias UploadResult = (head: ResponseHead, body: [UInt8])

/// The common part of all running uploads: holds the record, examines the content, and reports the outcome.
///
/// Order of a start: lock the record, load it, identify, digest, compare, ``begin(_:)``; each step calls the next. A new
/// protocol overrides the members under "For each protocol".
class UploadRunBase: @unchecked Sendable {
    // Unchecked: the variables are accessed only from inside the observer's lane, which is serial. Debug builds check
    // that where a callback enters.

    let content: UploadContent
    let sender: TransferSender
    let method: UploadMethod
    let files: any FileSystem
    let journal: UploadJournal?
    let observer: Observer<UploadEvent<UploadResult>, NetworkError>
    let clock: any Scheduler
    /// The name of the protocol in records.
    let name: String

    private(set) var source: UploadSource?
    private(set) var identity = ContentIdentity()
    /// Reports the progress.
    let reporter: RateReporter
    private var isBusy = false
    private var isDraining = false
    private var unlock: (@Sendable () -> Void)?
    /// Whether the upload is over; a subscription that ends before was cancelled (`stop()`).
    private var hasEnded = false
    /// The status of the file when its upload began.
    private var status: FileStatus?
    /// Whether the file is being compared with that status, after a failure: another failure ends the upload at once.
    private var isExamining = false

    init(
        _ content: UploadContent, _ sender: TransferSender, _ method: UploadMethod, _ records: UploadRecords,
        name: String, in files: any FileSystem,
        into observer: Observer<UploadEvent<UploadResult>, NetworkError>
    ) {
        self.content = content
        self.sender = sender
        self.method = method
        self.files = files
        self.observer = observer
        self.name = name
        clock = sender.client.transport.scheduler
        reporter = RateReporter(on: clock, in: observer.scope) { rate in
            if observer.scope.isOpen { observer.next(.progress(rate)) }
        }
        journal = UploadJournal(records, of: content, method: name, targetID: sender.targetID, in: files)
    }

    // MARK: - For each protocol

    /// Begins with the record of an earlier run, if there is one. The source is there.
    func begin(_ record: UploadRecord?) {}

    /// Performs the next output; false if there is none.
    func performNext() -> Bool { false }

    /// The most bytes of a stream to keep for one request.
    var bufferSize: Int64 {
        method.options.partSize.map { min($0, method.options.bufferSize) } ?? method.options.bufferSize
    }

    /// The size of the slices in which a file is read; `nil` if there is one request at a time.
    var slice: Int64? { nil }

    /// The request that ends the upload on the server, if it exists there.
    var termination: UploadRequest? { nil }

    /// Ends the upload on the server, if it exists there.
    func terminate() { if let request = termination { sender.sendDetached(request) } }

    /// Whether the server has compared the digests of all requests.
    var isChecked: Bool { false }

    // MARK: - Start

    /// Debug builds stop if this runs outside of the upload's lane.
    func assertInside() { observer.scope.lane.assertInside() }

    /// Starts. To be called once, inside the lane.
    func start() {
        assertInside()
        observer.scope.onClose { self.stop() }
        guard let journal else { return identify(nil) }
        perform(journal.lock()) { unlock in
            self.unlock = unlock
            let load = journal.load(
                method: self.name, targetID: self.sender.targetID, now: self.clock.currentDate)
            self.perform(load) { self.identify($0) }
        }
    }

    /// Fills in the content's identity (size, and for a file its modification time and inode), then continues with
    /// `digest(_:_:)`.
    private func identify(_ record: UploadRecord?) {
        guard case .file(let path) = content.kind else {
            if case .bytes(let bytes) = content.kind { identity.size = Int64(bytes.count) }
            return digest(record, nil)
        }
        perform(files.status(of: path)) { status in
            guard let status else {
                return self.fail(NetworkError(.file, "the file \(path) does not exist"))
            }
            self.status = status
            self.identity.size = status.size
            self.identity.modified = status.modified
            self.identity.number = status.number
            self.digest(record, status)
        }
    }

    /// The algorithm of the digest of the whole.
    private var algorithm: TransferDigest.Algorithm? {
        switch method.options.digest {
        case .none: nil
        case .computed(let algorithm): algorithm
        case .known(let digest): digest.algorithm
        }
    }

    /// Computes the digest of the whole content if one is wanted, then continues with `compare(_:_:)`. Streams are hashed
    /// while they are sent.
    private func digest(_ record: UploadRecord?, _ status: FileStatus?) {
        guard let algorithm else { return compare(record, status) }
        switch content.kind {
        case .stream: compare(record, status)
        case .bytes(let bytes): take(TransferDigest(of: bytes, algorithm), record, status)
        case .file(let path):
            perform(files.digests(of: path, [algorithm], expecting: status)) { digests in
                guard let digest = digests.first else { return self.compare(record, status) }
                self.take(digest, record, status)
            }
        }
    }

    private func take(_ digest: TransferDigest, _ record: UploadRecord?, _ status: FileStatus?) {
        if case .known(let known) = method.options.digest, known != digest {
            return fail(.digestMismatch("\(content) has the \(digest) instead of \(known)"))
        }
        identity.digest = digest
        compare(record, status)
    }

    /// Compares the content with that of the record, then makes the source and begins.
    private func compare(_ record: UploadRecord?, _ status: FileStatus?) {
        if let record, !identity.matches(record) {
            return fail(changed)
        }
        source = UploadSource(
            content, status: status, in: files, scope: observer.scope, bufferSize: bufferSize,
            digest: algorithm, slice: slice)
        begin(record)
    }

    // MARK: - Outputs

    /// Performs the outputs that wait, in their order.
    func drain() {
        assertInside()
        guard !isDraining else { return }
        isDraining = true
        while !isBusy, observer.scope.isOpen, performNext() {}
        isDraining = false
    }

    /// Performs an operation before the outputs that follow.
    func wait<T: Sendable>(
        for work: Observable<T, NetworkError>, _ report: @escaping @Sendable (T) -> Void
    ) {
        isBusy = true
        perform(work) { value in
            self.isBusy = false
            report(value)
            self.drain()
        }
    }

    /// Subscribes within this upload, and reports the last value; work without a value is not reported. A failure ends
    /// the upload. Reports nothing once the parent is closed.
    ///
    /// - Parameter parent: the scope of the work. Default: that of the subscription.
    func perform<T: Sendable>(
        _ work: Observable<T, NetworkError>, in parent: Scope? = nil,
        _ report: @escaping @Sendable (T) -> Void
    ) {
        let scope = (parent ?? observer.scope).child()
        let value = Value<T>()
        work.subscribe(
            Observer(
                scope: scope,
                next: { [self] new in
                    assertInside()
                    value.value = new
                }
            ) { completion in
                self.assertInside()
                scope.close()
                switch completion {
                case .failed(let error): self.fail(error)
                case .finished: if let value = value.value { report(value) }
                }
            })
    }

    private final class Value<T: Sendable>: @unchecked Sendable {
        // Unchecked: used only inside the upload's lane, which is serial. Debug builds check that.
        var value: T?
    }

    func save(
        _ location: String, age: Duration? = nil, partSize: Int64? = nil, partLocations: [String]? = nil
    ) {
        guard let journal else { return }
        let record = UploadRecord(
            method: name, target: sender.targetID, location: location, size: identity.size,
            modified: identity.modified?.inNanoseconds,
            number: identity.number == 0 ? nil : identity.number, digest: identity.digest?.description,
            expires: age.map { clock.currentDate.timeIntervalSince1970 + $0 / .seconds(1) },
            partSize: partSize, partLocations: partLocations)
        wait(for: journal.save(record)) {}
    }

    func forget() {
        guard let journal else { return }
        wait(for: journal.remove()) {}
    }

    /// The wait after so many failures in a row.
    ///
    /// - Parameter history: the retries after the failures before, of the same request.
    func delay(after failures: Int, _ error: NetworkError, _ history: inout RetryHistory?) -> Duration {
        var current = failures == 1 ? RetryHistory(clock: clock) : history ?? RetryHistory(clock: clock)
        current.count = failures - 1
        defer { history = current }
        return current.countRetry(
            by: method.options.backoff, RandomSource.fraction,
            atLeast: error.retryAfter(now: clock.currentDate) ?? .zero)
    }

    // MARK: - Requests

    /// Adds the digest of its content to a request, if it is to have one.
    func digested(
        _ request: UploadRequest, in parent: Scope? = nil,
        then send: @escaping @Sendable (UploadRequest) -> Void
    ) {
        guard let piece = request.piece, let kind = request.digest, let source else { return send(request) }
        perform(source.digest(of: piece, kind.algorithm), in: parent) { digest in
            var request = request
            if let (name, value) = kind.field(digest) { request.fields[name] = value }
            send(request)
        }
    }

    /// Sends a request, and reports its events and its outcome unless the returned scope, or its parent, is closed before.
    @discardableResult
    func exchange(
        _ request: UploadRequest, _ body: Body, in parent: Scope? = nil,
        event: @escaping @Sendable (TransferEvent) -> Void,
        outcome: @escaping @Sendable (Result<UploadResponse, NetworkError>) -> Void
    ) -> Scope {
        let scope = (parent ?? observer.scope).child()
        let parts = Parts(limit: sender.client.configuration.bodyLimit)
        @Sendable func end(_ result: Result<UploadResponse, NetworkError>) {
            guard scope.isOpen else { return }
            scope.close()
            outcome(result)
        }
        sender.send(request, body.limited(by: method.options.bandwidth, on: clock)).subscribe(
            Observer(
                scope: scope,
                next: { next in
                    self.assertInside()
                    event(next)
                    guard scope.isOpen else { return }
                    do throws(NetworkError) {
                        guard let response = try parts.response.take(next) else { return }
                        end(.success(response))
                    } catch {
                        end(.failure(error))
                    }
                },
                end: { completion in
                    switch completion {
                    case .failed(let error): end(.failure(error))
                    case .finished:
                        end(
                            .failure(
                                NetworkError(.partialBody, "the response ended before it was complete")))
                    }
                }))
        return scope
    }

    private final class Parts: @unchecked Sendable {
        // Unchecked: used only inside the upload's lane, which is serial. Debug builds check that.
        var response: ResponseParts

        init(limit: Int) { response = ResponseParts(limit: limit) }
    }

    // MARK: - Events

    func emit(_ event: UploadEvent<UploadResult>) {
        if observer.scope.isOpen { observer.next(event) }
    }

    func report(_ bytes: Int64, isLast: Bool = false) {
        reporter.report(bytes, of: source?.total, isLast: isLast)
    }

    // MARK: - End

    /// Ends with the response of the endpoint.
    func finish(_ head: ResponseHead, _ body: [UInt8]) {
        let proven: TransferDigest?
        do throws(NetworkError) { proven = try proof(head) } catch {
            return conclude { self.fail(error) }
        }
        conclude {
            self.report(self.source?.total ?? 0, isLast: true)
            if let proven { self.emit(.verified(proven)) }
            self.emit(.finished((head, body)))
            self.end(.finished)
        }
    }

    /// Removes the record of an upload that is over.
    private func conclude(_ report: @escaping @Sendable () -> Void) {
        guard let journal else { return report() }
        wait(for: journal.remove()) { report() }
    }

    /// The digest that the server has proven.
    ///
    /// - Throws: `digestMismatch` if the server has other content.
    private func proof(_ head: ResponseHead) throws(NetworkError) -> TransferDigest? {
        let own = source?.streamDigest ?? identity.digest
        if case .known(let known) = method.options.digest, let own, own != known {
            throw .digestMismatch("\(content) has the \(own) instead of \(known)")
        }
        guard let own else { return nil }
        let theirs = DigestFields(head).representation.first { $0.algorithm == own.algorithm }
        guard let theirs else { return isChecked ? own : nil }
        guard theirs == own else {
            var error = NetworkError.digestMismatch(
                "the server has content with the \(theirs), but \(content) has \(own)")
            error.head = head
            throw error
        }
        return own
    }

    private var changed: NetworkError {
        NetworkError(
            .contentChanged,
            "\(content) has changed since its upload began; remove the upload's record to upload the new content"
        )
    }

    /// Ends with a failure. If a file cannot be read any more as it was, it may have changed.
    func fail(_ error: NetworkError) {
        assertInside()
        guard error.code == .file, case .file(let path) = content.kind, let status, !isExamining else {
            return end(.failed(error))
        }
        (isExamining, isBusy) = (true, true)
        perform(files.status(of: path)) { now in
            self.end(.failed(now == status ? error : self.changed))
        }
    }

    private func end(_ completion: Completion<NetworkError>) {
        guard observer.scope.isOpen, !hasEnded else { return }
        hasEnded = true
        release()
        observer.end(completion)
    }

    /// The end of the subscription, whatever its cause.
    private func stop() {
        // Nothing could find the upload again.
        if !hasEnded, journal == nil { terminate() }
        hasEnded = true
        release()
    }

    private func release() {
        let unlock = unlock
        self.unlock = nil
        unlock?()
    }
}

/// A successful response with its body.
typealias UploadResponse = (head: ResponseHead, body: [UInt8])

extension Body {
    /// The body, sent no faster than the limit allows.
    fileprivate func limited(by bandwidth: TransferBandwidth?, on clock: any Scheduler) -> Body {
        guard let bandwidth else { return self }
        switch self {
        case .empty: return self
        case .bytes(let bytes):
            let size = 32 << 10
            let chunks = stride(from: 0, to: bytes.count, by: size).map {
                Array(bytes[$0..<min($0 + size, bytes.count)])
            }
            return .stream(
                Observable.sequence(chunks).limited(by: bandwidth, on: clock), length: Int64(bytes.count),
                isReplayable: true)
        case .streamed(let body):
            return .streamed(
                StreamedBody(isReplayable: body.isReplayable, count: body.count) { files in
                    body.open(files).map { content in
                        StreamedBody.Content(
                            length: content.length,
                            chunks: content.chunks.limited(by: bandwidth, on: clock))
                    }
                })
        }
    }
}
