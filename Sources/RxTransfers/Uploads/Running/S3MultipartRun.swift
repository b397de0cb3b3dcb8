import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite

/// One running multipart upload of S3: performs what the ``S3MultipartMachine`` decides.
final class S3MultipartRun: UploadRunBase, @unchecked Sendable {
    // Unchecked: the variables are accessed only from inside the observer's lane, which is serial. Debug builds check that.

    private let concurrency: Int
    private var machine: S3MultipartMachine?
    private var queue: [S3MultipartMachine.Output] = []
    private var retries: [UploadRequest.Kind: RetryHistory] = [:]
    /// The requests, digests, loads and timers of the present upload. A restart ends them with their upload.
    private lazy var attempt = observer.scope.child()
    /// The bodies of the parts of a stream, which cannot be read again.
    private var bodies: [Int: Body] = [:]
    private var hasStarted = false
    /// The bytes of the parts that have arrived.
    private var confirmed: Int64 = 0
    /// The bytes of the running requests that have been handed to the network.
    private var sent: [Int: Int64] = [:]
    /// The most bytes of a stream to keep, as far as the size of the parts allows;
    /// ``UploadMethod/multipart(concurrency:options:)`` names it.
    private static var streamMemory: Int64 { 32 << 20 }

    override var isChecked: Bool {
        method.options.partDigest.flatMap(TransferDigest.checksumField) != nil
    }
    override var termination: UploadRequest? { machine?.termination }
    override var bufferSize: Int64 { partSize(of: content.announcedLength) }
    override var slice: Int64? { 128 << 10 }

    init(
        _ content: UploadContent, _ sender: TransferSender, _ method: UploadMethod, concurrency: Int,
        _ records: UploadRecords, in files: any FileSystem,
        into observer: Observer<UploadEvent<UploadResult>, NetworkError>
    ) {
        self.concurrency = concurrency
        // Records have the name: with another one, uploads of older releases begin anew.
        super.init(content, sender, method, records, name: "s3-multipart", in: files, into: observer)
    }

    private func partSize(of total: Int64?) -> Int64 {
        S3MultipartMachine.partSize(of: total, wanted: method.options.partSize)
    }

    override func begin(_ record: UploadRecord?) {
        let partSize = record?.partSize ?? self.partSize(of: source?.total)
        // The parts of a stream that are being sent are in memory, and the next one, too: 32 MiB in all.
        let most = content.isStream ? max(1, Int(clamping: Self.streamMemory / partSize - 1)) : concurrency
        machine = S3MultipartMachine(
            total: source?.total, partSize: partSize, concurrency: min(concurrency, most),
            algorithm: method.options.partDigest,
            maxRetries: method.options.retries)
        take(.begin(uploadID: record?.location))
    }

    private func take(_ input: S3MultipartMachine.Input) {
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

    private func perform(_ output: S3MultipartMachine.Output) {
        switch output {
        case .load(let part, let offset, let limit):
            let attempt = attempt
            source?.load(from: offset, limit: limit) { result in
                guard attempt.isOpen else { return }
                switch result {
                case .success(let piece): self.take(.loaded(part, piece))
                case .failure(let error): self.fail(error)
                }
            }
        case .send(let request): prepare(request)
        case .stop:
            attempt.close()
            attempt = observer.scope.child()
            sent = [:]
        case .save(let uploadID): save(uploadID, partSize: machine?.partSize)
        case .forget: forget()
        case .wait(let kind, let failures, let error):
            let delay = delay(after: failures, error, &retries[kind])
            emit(.paused(error, for: delay))
            OperatorTimer(clock, in: attempt).set(after: delay) { self.take(.waited(kind)) }
        case .started(let bytes):
            confirmed = bytes
            // After a restart only the progress goes back.
            if !hasStarted { emit(.started(from: bytes)) }
            hasStarted = true
            report(bytes)
        case .confirmed(let part, let bytes):
            bodies[part] = nil
            sent[part] = nil
            confirmed += bytes
            report(confirmed + sent.values.reduce(0, +))
        case .finish(let head, let body): finish(head, body)
        case .fail(let error): fail(error)
        }
    }

    private func prepare(_ request: UploadRequest) {
        guard case .part(let number) = request.kind, let piece = request.piece, let source else {
            return send(request, request.body.isEmpty ? .empty : .bytes(request.body))
        }
        let body = bodies[number] ?? source.body(of: piece)
        if case .stream = content.kind { bodies[number] = body }
        digested(request, body) { self.send($0, body) }
        // The next part is read while this one is sent.
        source.release(upTo: piece.end)
    }

    private func digested(
        _ request: UploadRequest, _ body: Body, then send: @escaping @Sendable (UploadRequest) -> Void
    ) {
        guard let kind = request.digest, case .bytes(let bytes) = body else {
            return digested(request, in: attempt, then: send)
        }
        var request = request
        if let (name, value) = kind.field(TransferDigest(of: bytes, kind.algorithm)) {
            request.fields[name] = value
        }
        send(request)
    }

    private func send(_ request: UploadRequest, _ body: Body) {
        var part: Int?
        if case .part(let number) = request.kind { part = number }
        let number = part
        let size = request.piece?.count ?? 0
        exchange(request, body, in: attempt) { event in
            guard case .uploaded(let bytes, of: _) = event, let number else { return }
            // A signature of each chunk comes on top of the content.
            self.sent[number] = min(bytes, size)
            self.report(self.confirmed + self.sent.values.reduce(0, +))
        } outcome: { result in
            if let number { self.sent[number] = nil }
            switch result {
            case .success(let response): self.take(.responded(request.kind, response.head, response.body))
            case .failure(let error): self.take(.failed(request.kind, error))
            }
        }
    }
}
