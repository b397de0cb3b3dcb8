import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import Synchronization

/// One running download in parts: performs what the ``PartedPlan`` decides, with the client and the files.
final class PartedRun: @unchecked Sendable {
    // Unchecked: the variables are accessed only from inside the observer's lane, which is serial.

    /// Sends the request for the file with these fields.
    typealias Send = @Sendable (HTTPFields) -> Observable<TransferEvent, NetworkError>

    private let file: ReservedFile
    private let url: String
    private let wanted: PartedDownload.Parts
    private let options: PartedDownload.Options
    private let clock: any Scheduler
    private let observer: Observer<PartedDownload.Event, NetworkError>
    private let send: Send

    private var plan: PartedPlan?
    /// The scopes of the running parts and of their waits.
    private var running: [Int: Scope] = [:]
    private let reporter: RateReporter
    private var failures = 0
    private var maySplit = true
    /// Whether the last resort, a request for the whole, has been taken.
    private var isWhole = false
    private var isEnding = false

    init(
        _ file: ReservedFile, url: String, _ wanted: PartedDownload.Parts, _ options: PartedDownload.Options,
        on clock: any Scheduler, into observer: Observer<PartedDownload.Event, NetworkError>,
        send: @escaping Send
    ) {
        self.file = file
        self.url = url
        self.wanted = wanted
        self.options = options
        self.clock = clock
        self.observer = observer
        self.send = send
        reporter = RateReporter(on: clock, in: observer.scope) { rate in
            if observer.scope.isOpen { observer.next(.progress(rate)) }
        }
    }

    // MARK: - Start

    func start() {
        let record = file.files.contents(of: file.record, limit: DownloadRecord.sizeLimit)
            .catch { error -> Observable<[UInt8]?, NetworkError> in
                error.code == .tooLarge ? .just(nil) : .fail(error)
            }
        perform(record) { bytes in
            guard let bytes, let plan = PartedPlan(bytes, url: self.url) else { return self.requestWhole() }
            self.perform(self.file.files.status(of: self.file.draft)) { status in
                guard let size = status?.size, size > 0, plan.fits(size) else { return self.requestWhole() }
                self.restore(plan, size)
            }
        }
    }

    /// Finds out what the draft has of each part.
    private func restore(_ plan: PartedPlan, _ size: Int64) {
        guard let length = plan.length, plan.draftSize != nil else {
            var plan = plan
            plan.restore(size: size)
            return resume(plan)
        }
        let (files, draft) = (file.files, file.draft)
        let pieces = files.read(draft, from: length, count: size - length)
        let marks: Observable<[UInt8], NetworkError> = pieces.reduce([]) { $0 + $1 }
        let extents = Observable<Int64, NetworkError>.concat(
            plan.parts.map { files.extent(of: draft, from: $0.start) })
        let found: Observable<([UInt8], [Int64]), NetworkError> = .zip(marks, extents.collect())
        perform(found) { marks, extents in
            var plan = plan
            plan.restore(marks: DownloadRecord.offsets(in: marks), extents: extents)
            self.resume(plan)
        }
    }

    private func resume(_ plan: PartedPlan) {
        guard plan.written > 0 else { return requestWhole() }
        var split = plan
        if plan.parts.count == 1, !wanted.asksFirst || wanted.least <= (plan.length ?? 0) - plan.written {
            _ = split.split(into: wanted.most, least: wanted.least)
        }
        let laid = split
        perform(plan == laid ? .just(()) : self.laid(laid)) {
            self.plan = laid
            self.begin()
        }
    }

    /// Stores a plan, then gives the draft the size and the marks of its parts.
    private func laid(_ plan: PartedPlan) -> Observable<Void, NetworkError> {
        .deferred { [self] in
            guard plan.parts.count > 1, let length = plan.length else { return stored(plan) }
            return .concat([
                stored(plan).flatMap { _ in .empty() },
                file.append(.just(plan.marks), at: length).flatMap { _ in .empty() },
                .just(()),
            ])
        }
    }

    private func begin() {
        guard let plan else { return }
        let missing = plan.parts.indices.filter { !plan.parts[$0].isComplete }
        emit(.started(from: plan.written, parts: max(1, missing.count)))
        report()
        guard !missing.isEmpty else { return complete() }
        for part in missing { request(part) }
    }

    // MARK: - The whole

    private func requestWhole() {
        plan = nil
        var fields: HTTPFields = [.acceptEncoding: "identity"]
        for (name, value) in DigestFields.wanted { fields[name] = value }
        let sent = fields
        run(0, send(sent)) { head, rest throws(NetworkError) in
            switch head.status.code {
            case 204, 205: throw .noFile(head)
            case 206:
                var error = NetworkError(
                    .invalidResponse, "the server sent a part (206) for a request without Range")
                error.head = head
                throw error
            default: break
            }
            return self.write(whole: rest, head)
        }
    }

    /// Lays out the parts, then writes the first from this response, while the others are requested.
    private func write(
        whole body: Observable<TransferEvent, NetworkError>, _ head: ResponseHead
    ) -> Observable<Int64, NetworkError> {
        var plan = PartedPlan(of: url, from: head)
        let isRefused = head[.acceptRanges]?.lowercased().trimmingBlanks() == "none"
        if maySplit, wanted.asksFirst ? PartedPlan.offersRanges(head) : !isRefused {
            _ = plan.split(into: wanted.most, least: wanted.least)
        }
        let laid = plan
        // The record never describes a later version than the draft: so this is emptied first.
        return .concat([
            file.idle().flatMap { _ in .empty() },
            file.append(.empty(), at: 0).flatMap { _ in .empty() },
            self.laid(laid).flatMap { _ in .empty() },
            .deferred {
                self.plan = laid
                self.emit(.started(from: 0, parts: laid.parts.count))
                for part in laid.parts.indices.dropFirst() { self.request(part) }
                return self.write(body, to: 0, count: laid.parts[0].end)
            },
        ])
    }

    // MARK: - Parts

    private func request(_ part: Int) {
        guard let plan else { return }
        var fields = plan.fields(for: part)
        for (name, value) in DigestFields.wanted { fields[name] = value }
        let sent = fields
        run(part, send(sent)) { head, rest throws(NetworkError) in
            guard let plan = self.plan else { throw NetworkError(.invalidResponse, "no part is missing") }
            switch plan.decide(head, for: part) {
            case .accept(let end):
                return self.write(rest, to: part, count: end - plan.parts[part].position)
            case .unsplit where plan.parts.count == 1:
                // The server ignores ranges, and this is the whole.
                self.maySplit = false
                self.emit(.startedOver)
                return self.write(whole: rest, head)
            case .unsplit: throw .refusedRanges(head)
            case .changed: throw .changed(head)
            case .invalid: throw .invalidPart(head)
            }
        }
    }

    /// Writes up to `count` bytes of the body behind what a part has.
    private func write(
        _ body: Observable<TransferEvent, NetworkError>, to part: Int, count: Int64?
    ) -> Observable<Int64, NetworkError> {
        guard let plan else { return .empty() }
        let arriving = body.chunks().limited(by: options.bandwidth, on: clock)
        let chunks = count.map { arriving.prefix(bytes: $0) } ?? arriving
        let position = plan.parts[part].position
        return plan.mark(of: part).map { file.write(chunks, at: position, mark: $0) }
            ?? file.append(chunks, at: position)
    }

    /// Runs the request of a part, up to the end of what `body` writes.
    private func run(
        _ part: Int, _ events: Observable<TransferEvent, NetworkError>,
        _ body:
            @escaping @Sendable (
                ResponseHead, Observable<TransferEvent, NetworkError>
            ) throws(NetworkError) -> Observable<Int64, NetworkError>
    ) {
        let scope = observer.scope.child()
        running[part] = scope
        let before = plan?.parts[part].written ?? 0
        // The events may come from another scheduler, and `body` belongs to this lane.
        let here = Observable<TransferEvent, NetworkError>(scheduler: clock) { events.subscribe($0) }
        here.afterHead(body).subscribe(
            Observer(
                scope: scope,
                next: { offset in self.record(offset, of: part) },
                end: { completion in
                    guard scope.isOpen else { return }
                    scope.close()
                    self.running[part] = nil
                    switch completion {
                    case .finished: self.end(part, after: before)
                    case .failed(let error): self.fail(part, error)
                    }
                }))
    }

    private func record(_ offset: Int64, of part: Int) {
        guard let plan, plan.parts.indices.contains(part) else { return }
        if offset > plan.parts[part].position { failures = 0 }
        self.plan?.record(offset - plan.parts[part].start, of: part)
        report()
    }

    private func end(_ part: Int, after before: Int64) {
        guard let plan, plan.parts.indices.contains(part) else { return }
        let state = plan.parts[part]
        if state.end != nil, !state.isComplete {
            // A server may send less than the requested part.
            if state.written > before, plan.record != nil { return request(part) }
            return retry(part, NetworkError(.partialBody, "the response ended before it was complete"))
        }
        guard running.isEmpty, plan.parts.allSatisfy({ $0.isComplete || $0.end == nil }) else { return }
        complete()
    }

    // MARK: - Failures

    private func fail(_ part: Int, _ error: NetworkError) {
        switch error.code {
        case .contentChanged: startOver(error)
        case .rangesRefused: unsplit(error)
        default:
            if error.isRecoverable {
                retry(part, error)
            } else if error.code != .status, error.code != .invalidResponse {
                end(.failed(error))
            } else if (plan?.parts.count ?? 0) > 1, maySplit {
                unsplit(error)
            } else if plan?.parts.isEmpty == false, !isWhole {
                // A request without a range shows whether the ranges were the reason.
                (isWhole, maySplit) = (true, false)
                emit(.startedOver)
                requestWhole()
            } else {
                end(.failed(error))
            }
        }
    }

    private func retry(_ part: Int, _ error: NetworkError) {
        failures += 1
        guard failures <= options.retries else { return end(.failed(error)) }
        let history = RetryHistory(count: failures - 1, clock: clock)
        var delay = options.backoff.delay(history, RandomSource.fraction)
        if let asked = error.retryAfter(now: clock.currentDate) { delay = max(delay, asked) }
        emit(.paused(error, for: delay))
        guard observer.scope.isOpen else { return }
        let scope = observer.scope.child()
        running[part] = scope
        OperatorTimer(clock, in: scope).set(after: delay) {
            scope.close()
            self.running[part] = nil
            // Without a validator only the whole can be requested again.
            if self.plan?.record == nil { self.requestWhole() } else { self.request(part) }
        }
    }

    /// Requests all that is missing behind the first part at once.
    private func unsplit(_ error: NetworkError) {
        guard maySplit, var plan else { return end(.failed(error)) }
        maySplit = false
        stopParts()
        plan.unsplit()
        let single = plan
        emit(.startedOver)
        // What the other parts have begun to write must not come after the draft has been cut off.
        perform(cut(to: single)) {
            self.plan = single
            self.request(0)
        }
    }

    /// Stores a plan of one part, and cuts off the draft behind it.
    private func cut(to plan: PartedPlan) -> Observable<Void, NetworkError> {
        .concat([
            file.idle().flatMap { _ in .empty() },
            stored(plan).flatMap { _ in .empty() },
            .deferred { [file] in
                file.append(.empty(), at: plan.parts[0].written).flatMap { _ in .empty() }
            },
            .just(()),
        ])
    }

    /// Ends this run, and forgets what it has: the next run begins once nothing of this one is being written any more.
    private func startOver(_ error: NetworkError) {
        stopParts()
        perform(file.removeRecord()) { self.end(.failed(error)) }
    }

    private func stopParts() {
        let scopes = running.sorted { $0.key < $1.key }.map(\.value)
        running = [:]
        for scope in scopes { scope.close() }
    }

    // MARK: - The record

    /// Stores the plan; a file that cannot be resumed has no record.
    private func stored(_ plan: PartedPlan) -> Observable<Void, NetworkError> {
        .deferred { [file] () throws(NetworkError) in
            guard let bytes = try plan.encoded() else { return file.removeRecord() }
            return file.replaceRecord(with: bytes)
        }
    }

    // MARK: - The end

    /// Compares the digests, and moves the file to its place.
    private func complete() {
        guard let plan, !isEnding else { return }
        isEnding = true
        perform(file.idle().flatMap(.concat) { [file] in file.files.status(of: file.draft) }) { status in
            guard let size = status?.size, size == plan.draftSize ?? plan.written else {
                let error = NetworkError(
                    .file, "the partial file of \(self.file.location.path) has changed")
                return self.refuse(error)
            }
            self.verify(plan)
        }
    }

    private func verify(_ plan: PartedPlan) {
        let expected = (options.digest.map { [$0] } ?? []) + plan.digests
        guard !expected.isEmpty else {
            guard !options.requiresDigest else {
                return refuse(.digestMismatch("the server sent no digest of the file"))
            }
            return place(nil, plan)
        }
        let check = Check(expected)
        let name = file.location.path
        let content = file.files.read(file.draft, from: 0, count: plan.written)
        perform(content.map { check.update($0) }.collect()) { _ in
            do throws(NetworkError) {
                self.place(try check.finish(of: name), plan)
            } catch {
                self.refuse(error)
            }
        }
    }

    private final class Check: Sendable {
        private let state: Mutex<DigestCheck>

        init(_ expected: [TransferDigest]) { state = Mutex(DigestCheck(expected)) }

        func update(_ bytes: [UInt8]) { state.withLock { $0.update(bytes) } }

        func finish(of name: String) throws(NetworkError) -> TransferDigest? {
            try state.withLock { $0 }.finish(of: name)
        }
    }

    /// Removes the record, so that no attempt continues from wrong bytes.
    private func refuse(_ error: NetworkError) {
        perform(file.removeRecord()) { self.end(.failed(error)) }
    }

    private func place(_ digest: TransferDigest?, _ plan: PartedPlan) {
        let size = plan.written
        var whole = plan
        whole.join()
        // Cutting off the marks syncs the content, too.
        let moved: Observable<Void, NetworkError> = .concat([
            cut(to: whole).flatMap { _ in .empty() },
            .deferred { [file] in file.moveDraft().flatMap { _ in .empty() } },
            .deferred { [file] in file.removeRecord() },
        ])
        perform(moved) {
            self.report(isLast: true)
            self.emit(
                .finished(
                    PartedDownload.File(path: self.file.location.path, size: size, digest: digest)))
            self.end(.finished)
        }
    }

    private func emit(_ event: PartedDownload.Event) {
        if observer.scope.isOpen { observer.next(event) }
    }

    private func report(isLast: Bool = false) {
        guard let plan else { return }
        reporter.report(plan.written, of: plan.length, isLast: isLast || plan.isComplete)
    }

    private func end(_ completion: Completion<NetworkError>) {
        guard observer.scope.isOpen else { return }
        stopParts()
        observer.end(completion)
    }

    /// Subscribes within this download; a failure ends it.
    private func perform<T: Sendable>(
        _ work: Observable<T, NetworkError>, _ report: @escaping @Sendable (T) -> Void
    ) {
        let scope = observer.scope.child()
        let box = Box<T>()
        work.subscribe(
            Observer(scope: scope, next: { box.set($0) }) { completion in
                scope.close()
                switch completion {
                case .failed(let error): self.end(.failed(error))
                case .finished: if let value = box.value { report(value) }
                }
            })
    }

    private final class Box<T: Sendable>: Sendable {
        private let content = Mutex<T?>(nil)

        var value: T? { content.withLock { $0 } }

        func set(_ value: T) { content.withLock { $0 = value } }
    }
}

extension Observable where Element == [UInt8] {
    /// The first bytes, up to this number; the source is closed then.
    fileprivate func prefix(bytes count: Int64) -> Observable {
        lift { observer in
            let prefix = BytePrefix(count, observer)
            return Observer(scope: prefix.scope, next: prefix.receive, end: prefix.end)
        }
    }
}

/// One running prefix of a stream of bytes.
private final class BytePrefix<Failure: Error>: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    let scope: Scope
    private let observer: Observer<[UInt8], Failure>
    private var left: Int64

    init(_ count: Int64, _ observer: Observer<[UInt8], Failure>) {
        left = count
        self.observer = observer
        scope = observer.scope.child()
    }

    @Sendable
    func receive(_ chunk: [UInt8]) {
        let part = Int64(chunk.count) <= left ? chunk : Array(chunk.prefix(Int(left)))
        left -= Int64(part.count)
        observer.next(part)
        if left <= 0, observer.scope.isOpen { end(.finished) }
    }

    @Sendable
    func end(_ completion: Completion<Failure>) {
        guard scope.isOpen else { return }
        scope.close()
        observer.end(completion)
    }
}

extension NetworkError.Code {
    /// The server does not serve ranges of the file.
    static let rangesRefused = NetworkError.Code(rawValue: "rangesRefused")
}

extension NetworkError {
    private static func error(_ code: Code, _ message: String, _ head: ResponseHead) -> NetworkError {
        var error = NetworkError(code, message)
        error.head = head
        return error
    }

    fileprivate static func refusedRanges(_ head: ResponseHead) -> NetworkError {
        error(.rangesRefused, "the server ignores ranges", head)
    }

    fileprivate static func changed(_ head: ResponseHead) -> NetworkError {
        error(.contentChanged, "the object changed while it was downloaded", head)
    }

    fileprivate static func invalidPart(_ head: ResponseHead) -> NetworkError {
        error(.invalidResponse, "the response is not the part that was requested", head)
    }
}
