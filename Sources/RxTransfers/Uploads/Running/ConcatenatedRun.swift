import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite

/// One running upload by tus in several partial uploads side by side, which the server concatenates at the end
/// ("Concatenation"). Each of them has its own ``UploadMachine``, for its range of the content. A server that does not offer
/// this gets one upload.
final class ConcatenatedRun: UploadRunBase, @unchecked Sendable {
    // Unchecked: the variables are accessed only from inside the observer's lane, which is serial. Debug builds check that.

    /// A partial upload.
    private struct Partial {
        /// The range of the content.
        let range: Range<Int64>
        var machine: UploadMachine
        var running: Scope?
        var retries: RetryHistory?
        var location: URL?
        var expires: Date?
        var hasStarted = false
        /// The bytes that the server has, and those of the running request beyond.
        var confirmed: Int64 = 0
        var sent: Int64 = 0
        var isComplete = false
    }

    private let dialect: TusDialect
    private let concurrency: Int
    private var partials: [Partial] = []
    private var queue: [(partial: Int, output: UploadMachine.Output)] = []
    private var hasStarted = false
    private var failures = 0
    private var retries: RetryHistory?

    override var isChecked: Bool {
        partials.first.map { ($0.machine.dialect as? TusDialect)?.isChecked == true } ?? false
    }
    override var slice: Int64? { 128 << 10 }

    init(
        _ content: UploadContent, _ sender: TransferSender, _ method: UploadMethod, _ dialect: TusDialect,
        concurrency: Int, _ records: UploadRecords, in files: any FileSystem,
        into observer: Observer<UploadEvent<UploadResult>, NetworkError>
    ) {
        self.dialect = dialect
        self.concurrency = concurrency
        super.init(
            content, sender, method, records, name: dialect.name + "-concat", in: files, into: observer)
    }

    // MARK: - Start

    override func begin(_ record: UploadRecord?) {
        assertInside()
        guard let request = dialect.discovery(isPartial: true) else { return divide(dialect, record) }
        exchange(request, .empty) { _ in
        } outcome: { result in
            var dialect = self.dialect
            do throws(NetworkError) {
                switch result {
                case .success(let response): try dialect.discover(response.head)
                case .failure(let error):
                    guard error.code == .status, let head = error.head, !head.isTemporary else {
                        return self.retry(error) { self.begin(record) }
                    }
                    try dialect.discover(head)
                }
            } catch { return self.fail(error) }
            self.divide(dialect, record)
        }
    }

    /// Makes the partial uploads: those of the record, or equal ranges.
    private func divide(_ dialect: TusDialect, _ record: UploadRecord?) {
        let total = source?.total ?? 0
        var dialect = dialect
        dialect.isDiscovered = true
        let locations = record?.partLocations ?? []
        // ``UploadMethod/tus(metadata:creationSize:concurrency:options:)`` promises the 1 MiB.
        let least = max(1, method.options.partSize ?? 1 << 20)
        let wanted = dialect.offersConcatenation ? min(Int64(max(1, concurrency)), total / least) : 1
        let count = locations.isEmpty ? max(1, wanted) : Int64(locations.count)
        dialect.isPartial = count > 1
        partials = (0..<count).map { index in
            // Records have only the number of the ranges: divided in another way, uploads of older releases go wrong.
            let range = (total * index / count)..<(total * (index + 1) / count)
            let machine = UploadMachine(
                dialect, base: sender.url, total: Int64(range.count), partSize: method.options.partSize,
                // Partial uploads that nobody concatenates expire, and do no harm.
                isRepeatable: count > 1 || sender.isRepeatable, maxRetries: method.options.retries)
            return Partial(
                range: range, machine: machine,
                location: locations.indices.contains(Int(index)) ? URL(string: locations[Int(index)]) : nil)
        }
        for index in partials.indices { take(.begin(location: partials[index].location), at: index) }
    }

    private func take(_ input: UploadMachine.Input, at index: Int) {
        assertInside()
        queue += partials[index].machine.receive(input).map { (index, $0) }
        drain()
    }

    // MARK: - Outputs

    override func performNext() -> Bool {
        guard !queue.isEmpty else { return false }
        let (index, output) = queue.removeFirst()
        perform(output, at: index)
        return true
    }

    /// Performs an output of a partial upload, as ``UploadRun`` does those of a single one; change both.
    private func perform(_ output: UploadMachine.Output, at index: Int) {
        let start = partials[index].range.lowerBound
        switch output {
        case .load(let offset, let limit):
            let length = Int64(partials[index].range.count)
            guard offset <= length else {
                return fail(NetworkError(.invalidResponse, "the server has more than was sent to it"))
            }
            let count = min(limit ?? .max, length - offset)
            let piece = UploadPiece(offset: offset, count: count, isLast: offset + count == length)
            take(.loaded(piece, total: length), at: index)
        case .send(let request):
            var read = request
            read.piece?.offset += start
            digested(read) { digested in
                var request = request
                request.fields = digested.fields
                self.send(request, at: index)
            }
        case .stop:
            partials[index].running?.close()
            partials[index].running = nil
        case .terminate(let request): sender.sendDetached(request)
        case .save(let location, let limits):
            partials[index].location = location
            partials[index].expires = expiry(by: limits)
            save()
        case .forget:
            partials[index].location = nil
            save()
        case .wait(let failures, let error):
            let delay = delay(after: failures, error, &partials[index].retries)
            emit(.paused(error, for: delay))
            OperatorTimer(clock, in: observer.scope).set(after: delay) { self.take(.waited, at: index) }
        case .started(let offset), .resumed(let offset), .confirmed(let offset):
            if case .resumed = output { reporter.restart() }
            partials[index].confirmed = offset
            partials[index].hasStarted = true
            if partials[index].running == nil { partials[index].sent = 0 }
            tell(resumed: output)
        case .finish(let head, let body):
            partials[index].isComplete = true
            partials[index].sent = 0
            guard partials.count > 1 else { return finish(head, body) }
            if partials.allSatisfy(\.isComplete) { concatenate() }
        case .fail(let error):
            for partial in partials { partial.running?.close() }
            fail(error)
        }
    }

    private var bytes: Int64 { partials.reduce(0) { $0 + $1.confirmed + $1.sent } }

    /// Begins once all partial uploads have.
    private func tell(resumed output: UploadMachine.Output) {
        if !hasStarted {
            guard partials.allSatisfy(\.hasStarted) else { return }
            hasStarted = true
            emit(.started(from: bytes))
        } else if case .resumed = output {
            emit(.resumed(from: bytes))
        }
        report(bytes)
    }

    private func expiry(by limits: UploadLimits) -> Date? {
        limits.maxAge.map { clock.currentDate.addingTimeInterval($0 / .seconds(1)) } ?? limits.expires
    }

    /// Writes the locations of all partial uploads; the first to expire decides until when they are of use.
    private func save() {
        let expires = partials.compactMap(\.expires).min()
        let age = expires.map { Duration.seconds($0.timeIntervalSince(clock.currentDate)) }
        save("", age: age, partLocations: partials.map { $0.location?.absoluteString ?? "" })
    }

    // MARK: - Requests

    private func send(_ request: UploadRequest, at index: Int) {
        let piece = request.piece ?? .none
        let start = partials[index].range.lowerBound
        let body =
            source?.body(
                of: UploadPiece(offset: start + piece.offset, count: piece.count, isLast: piece.isLast))
            ?? .empty
        partials[index].sent = 0
        partials[index].machine.locationBase = sender.url(of: request.target)
        let scope = exchange(request, body) { event in
            switch event {
            case .uploaded(let bytes, of: _):
                guard piece.count > 0 else { return }
                self.partials[index].sent = bytes
                if self.hasStarted { self.report(self.bytes) }
            case .redirected(let next, by: _): self.partials[index].machine.locationBase = next.url
            default: break
            }
        } outcome: { result in
            let sent = self.partials[index].sent
            self.partials[index].running = nil
            self.partials[index].sent = 0
            switch result {
            case .success(let response):
                self.take(.responded(response.head, response.body), at: index)
            case .failure(let error): self.take(.failed(error, sent: sent), at: index)
            }
        }
        if scope.isOpen { partials[index].running = scope }
    }

    /// Asks the server to make one upload of all.
    private func concatenate() {
        let request = dialect.concatenation(of: partials.compactMap(\.location))
        exchange(request, .empty) { _ in
        } outcome: { result in
            switch result {
            case .success(let response): self.finish(response.head, response.body)
            case .failure(let error):
                // A server may remove the partial uploads at once, so that a second request would fail.
                guard error.isRecoverable, error.isUnsent || error.code == .status || self.sender.isRepeatable
                else { return self.fail(error) }
                self.retry(error) { self.concatenate() }
            }
        }
    }

    private func retry(_ error: NetworkError, _ work: @escaping @Sendable () -> Void) {
        failures += 1
        guard error.isRecoverable, failures <= method.options.retries else { return fail(error) }
        let delay = delay(after: failures, error, &retries)
        emit(.paused(error, for: delay))
        OperatorTimer(clock, in: observer.scope).set(after: delay, work)
    }

    override func terminate() {
        for partial in partials {
            if let request = partial.machine.termination { sender.sendDetached(request) }
        }
    }
}
