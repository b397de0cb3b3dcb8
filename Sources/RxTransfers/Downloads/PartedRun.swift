import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import Synchronization

/// One running download in parts: performs what the ``PartedPlan`` decides, with the client and the files.
final class PartedRun: @unchecked Sendable {
    // Unchecked: the variables are accessed only from inside the observer's lane, which is serial. Debug builds check that.

    /// Sends the request for the file with these fields.
    typealias Send = @Sendable (HTTPFields) -> Observable<TransferEvent, NetworkError>

    let file: ReservedFile
    private let url: String
    private let wanted: PartedDownload.Parts
    let options: PartedDownload.Options
    let clock: any Scheduler
    let observer: Observer<PartedDownload.Event, NetworkError>
    private let send: Send

    var plan: PartedPlan?
    /// The scopes of the running parts and of their waits, by slot.
    var running: [Int: Scope] = [:]
    /// The requests that may run at the same time.
    private var concurrency = 1
    private let timer: OperatorTimer
    private var ramp: PartedRamp?
    /// When the first bytes of this run arrived, and how many have arrived since.
    private var arrival: (since: Duration, bytes: Int64)?
    private let reporter: RateReporter
    /// The retries of each part since the last progress: one broken connection interrupts all.
    var retries: [Int: RetryHistory] = [:]
    /// The most bytes that have been on the disk in this run, since the parts were given up: only more are progress.
    var highestWritten: Int64 = 0
    /// Whether several parts may be requested; false for good once the server has not served a range as it must.
    var maySplit = true
    /// Whether the parts have been given up, and the draft still has what they have written: it is cut off behind the
    /// first once a response brings the rest.
    var isUncut = false
    /// Whether the whole has been requested without a range, which is the last resort: it happens once in a run.
    var isWhole = false
    /// Whether all parts are written, and the file is being verified and moved: nothing is requested any
    /// more.
    var isEnding = false

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
        timer = OperatorTimer(clock, in: observer.scope)
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
        guard let length = plan.length, plan.draftSize == size else {
            return restoreBeginning(of: plan, size)
        }
        let (files, draft) = (file.files, file.draft)
        let pieces = files.read(draft, from: length, count: size - length)
        perform(pieces.reduce([]) { $0 + $1 }) { bytes in
            let marks = DownloadRecord.offsets(in: bytes)
            let begun = plan.begun(by: marks)
            let extents = Observable<Int64, NetworkError>.concat(
                begun.map { files.extent(of: draft, from: plan.slots[$0]) })
            self.perform(extents.collect()) { extents in
                var plan = plan
                plan.restore(
                    marks: marks,
                    extents: Dictionary(uniqueKeysWithValues: zip(begun, extents)))
                self.resume(plan)
            }
        }
    }

    /// Takes over a draft of one part, without the marks that may still be behind it.
    private func restoreBeginning(of plan: PartedPlan, _ size: Int64) {
        // A draft of one part was synchronized before its record. Holes in it may be compressed zeros.
        let isStored = plan.slots.count == 1
        perform(isStored ? .just(size) : file.files.extent(of: file.draft, from: 0)) { extent in
            var plan = plan
            let written = min(size, extent, plan.length ?? .max)
            plan.restore(size: written)
            let restored = plan
            let cut: Observable<Int64, NetworkError> =
                written < size ? self.file.append(.empty(), at: written) : .just(written)
            self.perform(cut) { _ in self.resume(restored, isStored: isStored) }
        }
    }

    /// - Parameter isStored: whether the record is that of the plan.
    private func resume(_ plan: PartedPlan, isStored: Bool = true) {
        guard plan.written > 0 else { return requestWhole() }
        let laid = divided(plan)
        perform(isStored && plan.slots == laid.slots ? .just(()) : self.laid(laid)) {
            self.plan = laid
            self.begin()
        }
    }

    /// The plan with slots for the parts that are wanted, and as many parts as are wanted at once.
    private func divided(_ plan: PartedPlan) -> PartedPlan {
        var plan = plan
        plan.divide(for: wanted.maxConcurrency, minPartSize: wanted.minPartSize)
        if !wanted.isGradual { plan.spread(over: wanted.maxConcurrency) }
        return plan
    }

    /// Stores a plan. With several slots it then cuts or extends the draft to the length of the file, and writes the
    /// slots' marks behind it.
    private func laid(_ plan: PartedPlan) -> Observable<Void, NetworkError> {
        .deferred { [self] in
            guard plan.slots.count > 1, let length = plan.length else { return stored(plan) }
            return .concat([
                stored(plan).flatMap { _ in .empty() },
                file.append(.just(plan.marks), at: length).flatMap { _ in .empty() },
                .just(()),
            ])
        }
    }

    private func begin() {
        guard let plan else { return }
        // More bytes than these are progress, which forgets the retries.
        highestWritten = plan.written
        let missing = plan.parts.filter { !$0.isComplete }
        concurrency = wanted.isGradual ? 1 : wanted.maxConcurrency
        emit(.started(from: plan.written, parts: max(1, min(missing.count, concurrency))))
        report()
        guard !missing.isEmpty else { return complete() }
        guard plan.length != nil else { return request(0) }
        advance()
        grow()
    }

    /// Requests parts until there are enough requests: those that are missing, then halves of others.
    private func advance() {
        observer.scope.lane.assertInside()
        while running.count < concurrency, !isEnding, observer.scope.isOpen, let plan {
            let idle = plan.parts.first { $0.end != nil && !$0.isComplete && running[$0.slot] == nil }
            if let idle {
                request(idle.slot)
            } else {
                guard maySplit, let slot = self.plan?.split(minPartSize: minPartSize) else { return }
                request(slot)
            }
        }
    }

    /// The least part that is worth a request: what arrives in a quarter of a second.
    private var minPartSize: Int64 {
        guard let arrival, clock.now > arrival.since else { return PartedPlan.minSlotSize }
        let rate = Double(arrival.bytes) / ((clock.now - arrival.since) / .seconds(1))
        return max(PartedPlan.minSlotSize, Int64(min(rate / Double(max(1, running.count)) / 4, 1e12)))
    }

    /// Measures the rate for a while, and adds requests as long as each time more arrives.
    private func grow() {
        guard wanted.isGradual, maySplit, ramp == nil, (plan?.slots.count ?? 1) > 1 else { return }
        ramp = PartedRamp(maxConcurrency: wanted.maxConcurrency)
        timer.set(after: PartedRamp.interval) { self.measure() }
    }

    private func measure() {
        guard maySplit, let plan, !isEnding else { return }
        let left = plan.parts.reduce(0) { $0 + $1.left }
        switch ramp?.take(arrival?.bytes ?? 0, left: left, at: clock.now) {
        case .wait: timer.set(after: PartedRamp.interval) { self.measure() }
        case .grow(let count):
            concurrency = count
            advance()
            timer.set(after: PartedRamp.interval) { self.measure() }
        case .enough, nil: break
        }
    }

    // MARK: - The whole

    func requestWhole() {
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
        guard plan.length ?? 0 <= PartedPlan.maxLength else {
            return .fail(.invalid("the server announces a file that no disk can hold", head))
        }
        let isRefused = head[.acceptRanges]?.lowercasedToken().trimmingBlanks() == "none"
        if maySplit, wanted.asksFirst ? PartedPlan.offersRanges(head) : !isRefused { plan = divided(plan) }
        let laid = plan
        // The record never describes a later version than the draft: so this is emptied first.
        return .concat([
            file.idle().flatMap { _ in .empty() },
            file.append(.empty(), at: 0).flatMap { _ in .empty() },
            self.laid(laid).flatMap { _ in .empty() },
            .deferred {
                self.plan = laid
                if self.isUncut { (self.isUncut, self.highestWritten) = (false, 0) }
                self.concurrency = self.wanted.isGradual ? 1 : self.wanted.maxConcurrency
                self.emit(.started(from: 0, parts: laid.parts.count))
                for part in laid.parts.dropFirst() { self.request(part.slot) }
                self.grow()
                return self.write(body, to: 0, end: laid.length)
            },
        ])
    }

    // MARK: - Parts

    func request(_ slot: Int) {
        guard var fields = plan?.request(slot) else { return }
        for (name, value) in DigestFields.wanted { fields[name] = value }
        let sent = fields
        run(slot, send(sent)) { head, rest throws(NetworkError) in
            guard let plan = self.plan else { throw NetworkError(.invalidResponse, "no part is missing") }
            switch plan.decide(head, for: slot) {
            case .accept(let end) where self.isUncut: return self.write(single: rest, plan, end: end)
            case .accept(let end): return self.write(rest, to: slot, end: end)
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

    /// Gives up what the other parts have, then writes the rest of the file from this response.
    private func write(
        single body: Observable<TransferEvent, NetworkError>, _ plan: PartedPlan, end: Int64
    ) -> Observable<Int64, NetworkError> {
        .concat([
            cut(to: plan).flatMap { _ in .empty() },
            .deferred {
                (self.isUncut, self.highestWritten) = (false, plan.written)
                return self.write(body, to: 0, end: end)
            },
        ])
    }

    /// Writes the body behind what a part has, up to the part's end and to `end`.
    private func write(
        _ body: Observable<TransferEvent, NetworkError>, to slot: Int, end: Int64?
    ) -> Observable<Int64, NetworkError> {
        guard let plan, let position = plan.part(at: slot)?.position else { return .empty() }
        let arriving = body.chunks().limited(by: options.bandwidth, on: clock)
        let chunks = arriving.admitted { self.admit($0, to: slot, end: end) }
        // Each write is a switch of threads, of which many connections make many. What a killed process has not written yet
        // must be small beside the file.
        let size = max(64 << 10, min(128 << 10, wanted.maxConcurrency << 13))
        let pace = Appending.Pace(size: size, interval: .milliseconds(20), on: clock)
        return plan.mark(of: slot).map {
            file.write(chunks, at: position, mark: $0, highWater: 2 * size, pace: pace)
        } ?? file.append(chunks, at: position, pace: pace)
    }

    /// Counts bytes that arrive for a part.
    ///
    /// - Returns: how many of them belong to it, and whether no more do. The end of the part may have changed since its request.
    private func admit(_ count: Int, to slot: Int, end: Int64?) -> (count: Int, isLast: Bool) {
        observer.scope.lane.assertInside()
        guard let part = plan?.part(at: slot) else { return (0, true) }
        let limit = end.map { Int(max(0, min(Int64(count), $0 - part.start - part.received))) } ?? count
        let taken = plan?.receive(limit, of: slot) ?? 0
        if arrival == nil {
            arrival = (clock.now, 0)
            ramp?.begin(at: clock.now)
        }
        arrival?.bytes += Int64(taken)
        // A response that ends with the part ends by itself, so that its connection can be used again.
        let arrived = part.start + part.received + Int64(taken)
        let isLast = taken < count || plan?.part(at: slot)?.left == 0 && end.map { arrived < $0 } ?? false
        return (taken, isLast)
    }

    /// Runs the request of a part, up to the end of what `body` writes.
    private func run(
        _ part: Int, _ events: Observable<TransferEvent, NetworkError>,
        _ body:
            @escaping @Sendable (
                ResponseHead, Observable<TransferEvent, NetworkError>
            ) throws(NetworkError) -> Observable<Int64, NetworkError>
    ) {
        observer.scope.lane.assertInside()
        let scope = observer.scope.child()
        running[part] = scope
        let before = plan?.part(at: part)?.written ?? 0
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

    private func record(_ offset: Int64, of slot: Int) {
        guard let part = plan?.part(at: slot) else { return }
        plan?.record(offset - part.start, of: slot)
        if let written = plan?.written, written > highestWritten {
            (highestWritten, retries) = (written, [:])
        }
        report()
    }

    private func end(_ slot: Int, after before: Int64) {
        guard let plan, let part = plan.part(at: slot) else { return }
        if part.end != nil, !part.isComplete {
            // A server may send less than the requested part.
            if part.written > before, plan.record != nil { return request(slot) }
            return retry(slot, NetworkError(.partialBody, "the response ended before it was complete"))
        }
        advance()
        guard running.isEmpty, plan.parts.allSatisfy({ $0.isComplete || $0.end == nil }) else { return }
        complete()
    }

    // MARK: - The record

    /// Stores the plan; a file that cannot be resumed has no record.
    func stored(_ plan: PartedPlan) -> Observable<Void, NetworkError> {
        .deferred { [file] () throws(NetworkError) in
            guard let bytes = try plan.encoded() else { return file.removeRecord() }
            return file.replaceRecord(with: bytes)
        }
    }

    // MARK: - Reports

    func stopParts() {
        let scopes = running.sorted { $0.key < $1.key }.map(\.value)
        running = [:]
        for scope in scopes { scope.close() }
    }

    func emit(_ event: PartedDownload.Event) {
        if observer.scope.isOpen { observer.next(event) }
    }

    func report(isLast: Bool = false) {
        guard let plan else { return }
        reporter.report(plan.written, of: plan.length, isLast: isLast || plan.isComplete)
    }

    func end(_ completion: Completion<NetworkError>) {
        guard observer.scope.isOpen else { return }
        stopParts()
        observer.end(completion)
    }

    /// Subscribes within this download, and reports the last value; work without a value is not reported. A failure
    /// ends the download.
    func perform<T: Sendable>(
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
    /// The bytes that `admit` takes of each chunk, up to the last; the source is closed after it.
    fileprivate func admitted(_ admit: @escaping @Sendable (Int) -> (count: Int, isLast: Bool)) -> Observable
    {
        lift { observer in
            let scope = observer.scope.child()
            return Observer(scope: scope) { chunk in
                let (count, isLast) = admit(chunk.count)
                if count > 0 { observer.next(count == chunk.count ? chunk : Array(chunk.prefix(count))) }
                guard isLast, scope.isOpen else { return }
                scope.close()
                observer.end(.finished)
            } end: { completion in
                scope.close()
                observer.end(completion)
            }
        }
    }
}
