import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite

/// One running upload whose content is appended in order: performs what the ``UploadMachine`` decides.
final class UploadRun: UploadRunBase, @unchecked Sendable {
    // Unchecked: the variables are accessed only from inside the observer's lane, which is serial. Debug builds check that.

    private let dialect: any UploadDialect
    private let timer: OperatorTimer
    private var retries: RetryHistory?
    private var machine: UploadMachine?
    private var queue: [UploadMachine.Output] = []
    private var running: Scope?
    /// The bytes of the running request that have been handed to the network.
    private var sent: Int64 = 0

    override var isChecked: Bool { (machine?.dialect as? TusDialect)?.isChecked == true }
    override var termination: UploadRequest? { machine?.termination }

    init(
        _ content: UploadContent, _ sender: TransferSender, _ method: UploadMethod,
        _ dialect: any UploadDialect, _ records: UploadRecords, in files: any FileSystem,
        into observer: Observer<UploadEvent<UploadResult>, NetworkError>
    ) {
        self.dialect = dialect
        timer = OperatorTimer(sender.client.transport.scheduler, in: observer.scope)
        super.init(
            content, sender, method, records, name: dialect.name, in: files, into: observer)
    }

    override func begin(_ record: UploadRecord?) {
        var dialect = dialect
        if var draft = dialect as? DraftDialect, let digest = identity.digest,
            digest.algorithm == .sha256 || digest.algorithm == .sha512
        {
            draft.whole = digest
            dialect = draft
        }
        machine = UploadMachine(
            dialect, base: sender.url, total: source?.total, partSize: method.options.partSize,
            isRepeatable: sender.isRepeatable, maxRetries: method.options.retries)
        take(.begin(location: record.flatMap { URL(string: $0.location) }))
    }

    private func take(_ input: UploadMachine.Input) {
        assertInside()
        queue += machine?.receive(input) ?? []
        drain()
    }

    // MARK: - Outputs

    override func performNext() -> Bool {
        guard !queue.isEmpty else { return false }
        perform(queue.removeFirst())
        return true
    }

    /// Performs an output; ``ConcatenatedRun`` does so for each partial upload. Change both.
    private func perform(_ output: UploadMachine.Output) {
        switch output {
        case .load(let offset, let limit):
            source?.load(from: offset, limit: limit) { result in
                switch result {
                case .success(let piece): self.take(.loaded(piece, total: self.source?.total))
                case .failure(let error): self.fail(error)
                }
            }
        case .send(let request): digested(request) { self.send($0) }
        case .stop:
            running?.close()
            running = nil
        case .terminate(let request): sender.sendDetached(request)
        case .save(let location, let limits):
            let age =
                limits.maxAge ?? limits.expires.map { .seconds($0.timeIntervalSince(clock.currentDate)) }
            save(location.absoluteString, age: age)
        case .forget: forget()
        case .wait(let failures, let error):
            let delay = delay(after: failures, error, &retries)
            emit(.paused(error, for: delay))
            timer.set(after: delay) { self.take(.waited) }
        case .started(let offset):
            emit(.started(from: offset))
            report(offset)
        case .resumed(let offset):
            reporter.restart()
            emit(.resumed(from: offset))
            report(offset)
        case .confirmed(let offset):
            source?.release(upTo: offset)
            if running == nil { report(offset) }
        case .finish(let head, let body): finish(head, body)
        case .fail(let error): fail(error)
        }
    }

    private func send(_ request: UploadRequest) {
        let piece = request.piece ?? .none
        sent = 0
        machine?.locationBase = sender.url(of: request.target)
        running = exchange(request, source?.body(of: piece) ?? .empty) { event in
            switch event {
            case .uploaded(let bytes, of: _):
                self.sent = bytes
                if piece.count > 0 { self.report(piece.offset + bytes) }
            case .redirected(let next, by: _): self.machine?.locationBase = next.url
            case .interim(let head): self.take(.interim(head))
            default: break
            }
        } outcome: { result in
            self.running = nil
            switch result {
            case .success(let response): self.take(.responded(response.head, response.body))
            case .failure(let error): self.take(.failed(error, sent: self.sent))
            }
        }
    }
}
