import FoundationEssentials
import HTTPTypes
import RxHTTP

/// The rules of an upload whose content is appended in order: a pure state machine, which reads neither files nor clocks.
///
/// Its owner performs the outputs in their order, one request at a time, and reports what came of them.
struct UploadMachine: Sendable {
    /// An event of the upload.
    enum Input: Sendable {
        /// Begins, at the location in a record or anew.
        case begin(location: URL?)
        /// The content that was asked for is there.
        case loaded(UploadPiece, total: Int64?)
        /// An informational response to the running request.
        case interim(ResponseHead)
        /// A successful response to the running request.
        case responded(ResponseHead, [UInt8])
        /// The running request failed, perhaps with a status, after so many bytes of its content were sent.
        case failed(NetworkError, sent: Int64)
        /// A wait is over.
        case waited
    }

    /// An action for the upload.
    enum Output: Sendable {
        /// Read content from an offset, at most so many bytes.
        case load(from: Int64, limit: Int64?)
        case send(UploadRequest)
        /// Cancel the running request.
        case stop
        /// Send a request whose outcome does not matter.
        case terminate(UploadRequest)
        /// Write the record before anything that follows.
        case save(URL, UploadLimits)
        /// Remove the record.
        case forget
        /// Wait after so many failures in a row.
        case wait(failures: Int, NetworkError)
        /// The upload exists, and has so many bytes.
        case started(offset: Int64)
        /// The upload goes on at this offset after a wait.
        case resumed(offset: Int64)
        /// The server has confirmed so many bytes.
        case confirmed(Int64)
        /// The upload is complete, with this response.
        case finish(ResponseHead, [UInt8])
        case fail(NetworkError)
    }

    /// What the machine waits for. The switches over it have defaults: a new case needs its branch in `receive(_:)`, in
    /// `take(_:_:)` for responses, in `take(_:sent:)` for refusals, and in `take(failure:_:)` for all other failures.
    private enum Phase {
        case idle
        case discovering
        case loading(isCreation: Bool)
        case creating(UploadPiece)
        case querying
        case appending(UploadPiece)
        case waiting
        case done
    }

    private(set) var dialect: any UploadDialect
    /// The URL that a relative `Location` refers to: that of the last request, after redirects. Its owner sets it at
    /// the start of each request and at each redirect.
    var locationBase: URL
    /// The number of bytes of the content, once it is known.
    private(set) var total: Int64?
    /// The number of bytes that the server has confirmed.
    private(set) var offset: Int64 = 0
    /// The highest offset that the server has ever confirmed: only more than that is progress.
    private var highestConfirmed: Int64 = 0
    /// The end of the furthest content that was sent to the upload; not known of one in a record.
    private var reach: Int64 = 0

    private let isRepeatable: Bool
    private let maxRetries: Int
    private var phase = Phase.idle
    private var location: URL?
    /// The most content of one request; a 413 makes it smaller.
    private var partLimit: Int64?
    private var failures = 0
    private var restarts = 0
    private var hasDiscovered = false
    private var hasStarted = false
    /// Whether there was a wait since the last offset: the next one is reported as `resumed`, unless it is
    /// the first.
    private var isPaused = false
    /// Whether an empty append to the complete upload has asked for the lost response; its refusal is no
    /// failure, but leads to `askAgain()`. Not true of appends to a new upload, or to one that is not complete.
    private var hasAskedForResult = false
    /// Whether the server may have completed the upload, and the response was lost.
    private var mayBeDone = false
    /// The time in the record at which the server removes the upload.
    private var savedExpiry: Date?

    /// - Parameters:
    ///   - base: the URL of the endpoint.
    ///   - total: the number of bytes of the content, if it is known.
    ///   - partSize: the most content of one request; `nil` for no limit but the server's.
    ///   - isRepeatable: whether the request that creates the upload may be sent again after it may have been processed.
    ///   - maxRetries: the most retries in a row without progress.
    init(
        _ dialect: any UploadDialect, base: URL, total: Int64?, partSize: Int64?, isRepeatable: Bool,
        maxRetries: Int
    ) {
        self.dialect = dialect
        locationBase = base
        self.total = total
        self.isRepeatable = isRepeatable
        self.maxRetries = maxRetries
        partLimit = partSize
    }

    /// Takes an input, and returns what to do.
    mutating func receive(_ input: Input) -> [Output] {
        switch (input, phase) {
        case (_, .done): []
        case (.begin(let url?), _): resume(at: url)
        case (.begin(nil), _): startAnew()
        case (.loaded(let piece, let total), .loading(let isCreation)):
            send(piece, total, isCreation: isCreation)
        case (.interim(let head), .creating(let piece)): takeInterim(head, creating: piece)
        case (.interim(let head), .appending(let piece)): takeInterim(head, appending: piece)
        case (.responded(let head, let body), _): take(head, body)
        case (.failed(let error, let sent), _): take(error, sent: sent)
        case (.waited, .waiting): retry()
        case (.loaded, _), (.interim, _), (.waited, _): []
        }
    }

    // MARK: - Requests

    /// Goes on with the upload of an earlier run.
    private mutating func resume(at url: URL) -> [Output] {
        reach = .max
        // The record was written by another clock than the server's, so that its first answer renews it.
        savedExpiry = .distantPast
        return ask(at: url)
    }

    /// Asks for the offset; before, for what the server offers, if that matters for the rest of the content.
    private mutating func ask(at url: URL) -> [Output] {
        location = url
        guard !hasDiscovered, dialect.asksAlways, let request = dialect.discovery(isPartial: false) else {
            return query(at: url)
        }
        phase = .discovering
        return [.send(request)]
    }

    private mutating func query(at url: URL) -> [Output] {
        location = url
        phase = .querying
        return [.send(dialect.query(at: url))]
    }

    private mutating func startAnew() -> [Output] {
        let isPartial = total == nil || partLimit.map { $0 < total ?? 0 } == true
        if !hasDiscovered, let request = dialect.discovery(isPartial: isPartial) {
            phase = .discovering
            return [.send(request)]
        }
        return create()
    }

    private mutating func create() -> [Output] {
        if let error = excess() { return fail(error) }
        let limit = [dialect.creationLimit(total: total), dialect.limits.maxAppend, partLimit]
            .compactMap { $0 }.min()
        guard limit == 0 else {
            phase = .loading(isCreation: true)
            return [.load(from: 0, limit: limit)]
        }
        let piece = UploadPiece(offset: 0, count: 0, isLast: total == 0)
        phase = .creating(piece)
        return [.send(dialect.creation(piece, total: total))]
    }

    /// The error for content that the server does not take.
    private func excess() -> NetworkError? {
        guard let most = dialect.limits.maxSize, let total, total > most else { return nil }
        return NetworkError(
            .tooLarge, "the content has \(total) bytes, and the server takes \(most) at most")
    }

    private mutating func send(_ piece: UploadPiece, _ total: Int64?, isCreation: Bool) -> [Output] {
        self.total = total ?? self.total
        if let error = excess() { return fail(error, isTerminating: true) }
        reach = max(reach, piece.end)
        if isCreation {
            phase = .creating(piece)
            return [.send(dialect.creation(piece, total: self.total))]
        }
        guard let location else { return startAnew() }
        phase = .appending(piece)
        return [.send(dialect.append(piece, total: self.total, at: location))]
    }

    /// Writes the record, with the time until which the upload stays.
    private mutating func save(_ url: URL) -> Output {
        savedExpiry = dialect.limits.expires
        return .save(url, dialect.limits)
    }

    /// Writes the record again if the server keeps the upload for at least a minute longer.
    private mutating func renew() -> [Output] {
        guard let location, let expires = dialect.limits.expires, let saved = savedExpiry,
            expires.timeIntervalSince(saved) >= 60
        else { return [] }
        return [save(location)]
    }

    /// The next content after the confirmed offset.
    private mutating func proceed(_ head: ResponseHead, _ body: [UInt8]) -> [Output] {
        if let total, offset > total {
            return fail(
                NetworkError(
                    .invalidResponse,
                    "the server has \(offset) bytes of the upload, more than the \(total) of the content"),
                isTerminating: true)
        }
        if !dialect.completesExplicitly, total == offset { return finish(head, body) }
        let renewal = renew()
        phase = .loading(isCreation: false)
        var limit = [dialect.limits.maxAppend, partLimit].compactMap { $0 }.min()
        if let least = dialect.limits.minAppend, let most = limit { limit = max(most, least) }
        return renewal + [.load(from: offset, limit: limit)]
    }

    // MARK: - Responses

    private mutating func take(_ head: ResponseHead, _ body: [UInt8]) -> [Output] {
        dialect.learn(head)
        switch phase {
        case .discovering: return discover(head)
        case .creating(let piece):
            return take(dialect.read(head, to: .creation, piece), head, body, nil, creating: piece, sent: 0)
        case .querying:
            return take(dialect.read(head, to: .query, .none), head, body, nil)
        case .appending(let piece):
            return take(dialect.read(head, to: .append, piece), head, body, nil, appending: piece)
        default: return []
        }
    }

    private mutating func take(_ error: NetworkError, sent: Int64) -> [Output] {
        guard error.code == .status, let head = error.head else { return take(failure: error, sent) }
        dialect.learn(head)
        switch phase {
        case .discovering:
            return head.isTemporary ? recover(error) : discover(head)
        case .creating(let piece):
            let answer = dialect.read(head, to: .creation, piece)
            return take(answer, head, error.body, error, creating: piece, sent: sent)
        case .querying: return take(dialect.read(head, to: .query, .none), head, error.body, error)
        case .appending(let piece):
            let answer = dialect.read(head, to: .append, piece)
            return take(answer, head, error.body, error, appending: piece)
        default: return []
        }
    }

    private mutating func discover(_ head: ResponseHead) -> [Output] {
        do throws(NetworkError) { try dialect.discover(head) } catch { return fail(error) }
        hasDiscovered = true
        return location.map { query(at: $0) } ?? create()
    }

    private mutating func take(
        _ answer: UploadAnswer, _ head: ResponseHead, _ body: [UInt8], _ error: NetworkError?,
        creating piece: UploadPiece, sent: Int64
    ) -> [Output] {
        switch answer {
        case .created(let text, let offset):
            var outputs: [Output] = []
            if let text {
                guard let url = resolved(text) else { return fail(.badLocation(head)) }
                if let location, location != url { return fail(.movedLocation(head), isTerminating: true) }
                if location == nil { outputs.append(save(url)) }
                location = url
            }
            guard location != nil else {
                var error = NetworkError(
                    .invalidResponse, "the server took a part of the content and named no place for the rest")
                error.head = head
                return fail(error)
            }
            guard offset <= piece.end else { return fail(.beyond(offset, head), isTerminating: true) }
            return outputs + begin() + confirm(offset) + proceed(head, body)
        case .complete: return finish(head, body)
        case .tooLarge:
            guard let outputs = shrink(piece, error, head) else { return fail(error ?? .unexpected(head)) }
            return outputs + (location.map { query(at: $0) } ?? startAnew())
        case .again: return recover(error ?? .unexpected(head), after: piece, sent: sent)
        case .invalid(let message):
            return fail(.invalid(message, head), isForgetting: message == .closedEarly)
        case .offset, .mismatch, .gone, .refused: return fail(error ?? .unexpected(head))
        }
    }

    /// The answer to a question for the offset.
    private mutating func take(
        _ answer: UploadAnswer, _ head: ResponseHead, _ body: [UInt8], _ error: NetworkError?
    ) -> [Output] {
        switch answer {
        case .offset(let offset, let isComplete):
            if isBeyond(offset) { return fail(.beyond(offset, head), isTerminating: true) }
            guard !isComplete || offset == total else {
                return fail(.invalid(.closedEarly, head), isForgetting: true)
            }
            mayBeDone = isComplete
            guard isComplete, let location else {
                hasAskedForResult = false
                return confirm(offset) + proceed(head, body)
            }
            // The response was lost; the server may send it again to a request that completes what is complete.
            guard !hasAskedForResult else { return finish(head, body) }
            hasAskedForResult = true
            let piece = UploadPiece(offset: offset, count: 0, isLast: true)
            phase = .appending(piece)
            return confirm(offset) + [.send(dialect.append(piece, total: total, at: location))]
        case .gone: return restart(error ?? .unexpected(head))
        case .again: return recover(error ?? .unexpected(head))
        case .invalid(let message):
            return fail(.invalid(message, head), isForgetting: message == .closedEarly)
        default: return fail(error ?? .unexpected(head))
        }
    }

    private mutating func take(
        _ answer: UploadAnswer, _ head: ResponseHead, _ body: [UInt8], _ error: NetworkError?,
        appending piece: UploadPiece
    ) -> [Output] {
        switch answer {
        case .offset(let offset, _):
            guard piece.offset...piece.end ~= offset else {
                return fail(.beyond(offset, head), isTerminating: true)
            }
            let isStuck = offset == self.offset && offset == piece.offset
            guard !isStuck else { return recover(.noProgress(head)) }
            return confirm(offset) + proceed(head, body)
        case .complete: return finish(head, body)
        case .mismatch(let offset):
            guard !hasAskedForResult || piece.count > 0, let offset, offset != piece.offset else {
                return hasAskedForResult ? askAgain() : recover(error ?? .unexpected(head))
            }
            if isBeyond(offset) { return fail(.beyond(offset, head), isTerminating: true) }
            failures += 1
            guard failures <= maxRetries else { return fail(error ?? .unexpected(head)) }
            return rewind(to: offset) + proceed(head, body)
        case .tooLarge:
            guard let outputs = shrink(piece, error, head) else { return fail(error ?? .unexpected(head)) }
            return outputs + (location.map { query(at: $0) } ?? startAnew())
        case .gone: return hasAskedForResult ? askAgain() : restart(error ?? .unexpected(head))
        case .again: return recover(error ?? .unexpected(head), after: piece, sent: piece.count)
        case .invalid(let message):
            return fail(.invalid(message, head), isForgetting: message == .closedEarly)
        case .created, .refused:
            return hasAskedForResult ? askAgain() : fail(error ?? .unexpected(head))
        }
    }

    /// Asks for the state once more: the server does not send the result again, and its response to that ends the upload.
    private mutating func askAgain() -> [Output] {
        location.map { query(at: $0) } ?? fail(NetworkError(.noContent, "the upload's response was lost"))
    }

    // MARK: - Informational responses

    private mutating func takeInterim(_ head: ResponseHead, creating piece: UploadPiece) -> [Output] {
        guard dialect.reads(interim: head) else { return [] }
        dialect.learn(head)
        var outputs: [Output] = []
        if let text = head[.location] {
            guard let url = resolved(text) else { return fail(.badLocation(head)) }
            if let location, location != url { return fail(.movedLocation(head), isTerminating: true) }
            if location == nil {
                location = url
                outputs.append(save(url))
                outputs += begin()
            }
        }
        return outputs + takeInterimProgress(head, piece)
    }

    private mutating func takeInterim(_ head: ResponseHead, appending piece: UploadPiece) -> [Output] {
        guard dialect.reads(interim: head) else { return [] }
        dialect.learn(head)
        return takeInterimProgress(head, piece)
    }

    /// Takes the limits and the offset that an informational response brings.
    private mutating func takeInterimProgress(_ head: ResponseHead, _ piece: UploadPiece) -> [Output] {
        if let error = excess() { return fail(error, isTerminating: true) }
        if let most = dialect.limits.maxAppend, piece.count > most, let location {
            // Its request would be refused at its end.
            return [.stop] + query(at: location)
        }
        guard let offset = StructuredItem.number(head[.uploadOffset]), offset > self.offset,
            offset <= piece.end
        else { return [] }
        return confirm(offset)
    }

    // MARK: - Failures

    private mutating func take(failure error: NetworkError, _ sent: Int64) -> [Output] {
        guard error.isRecoverable else { return fail(error) }
        switch phase {
        case .creating(let piece), .appending(let piece): return recover(error, after: piece, sent: sent)
        default: return recover(error)
        }
    }

    private mutating func recover(
        _ error: NetworkError, after piece: UploadPiece, sent: Int64
    ) -> [Output] {
        if piece.isLast, sent >= piece.count, !error.isUnsent { mayBeDone = true }
        guard location != nil || isRepeatable || !mayBeDone else { return fail(error) }
        return recover(error)
    }

    private mutating func recover(_ error: NetworkError) -> [Output] {
        failures += 1
        guard failures <= maxRetries else { return fail(error) }
        phase = .waiting
        isPaused = true
        return [.wait(failures: failures, error)]
    }

    private mutating func retry() -> [Output] {
        location.map { ask(at: $0) } ?? startAnew()
    }

    private mutating func restart(_ error: NetworkError) -> [Output] {
        guard restarts == 0, isRepeatable || !mayBeDone else { return fail(error) }
        restarts += 1
        // The record stays until that of the new upload replaces it.
        (location, offset, highestConfirmed, reach) = (nil, 0, 0, 0)
        hasAskedForResult = false
        return startAnew()
    }

    /// Makes the next requests smaller; `nil` if that is not possible.
    private mutating func shrink(
        _ piece: UploadPiece, _ error: NetworkError?, _ head: ResponseHead
    ) -> [Output]? {
        if excess() != nil { return nil }
        let least = max(1, dialect.limits.minAppend ?? 1)
        guard piece.count > least else { return nil }
        let announced = dialect.limits.maxAppend ?? .max
        partLimit = max(least, announced < piece.count ? announced : piece.count / 2)
        return []
    }

    /// - Parameters:
    ///   - isTerminating: whether the upload is ended on the server, too.
    ///   - isForgetting: whether nothing goes on from the upload any more.
    private mutating func fail(
        _ error: NetworkError, isTerminating: Bool = false, isForgetting: Bool = false
    ) -> [Output] {
        phase = .done
        var outputs: [Output] = [.stop]
        if isTerminating, let location, let request = dialect.termination(at: location) {
            outputs.append(.terminate(request))
        }
        if isForgetting || isTerminating && location != nil { outputs.append(.forget) }
        return outputs + [.fail(error)]
    }

    private mutating func finish(_ head: ResponseHead, _ body: [UInt8]) -> [Output] {
        phase = .done
        return begin() + (total.map { confirm($0) } ?? []) + [.finish(head, body)]
    }

    // MARK: - Offsets

    /// Whether the server cannot have so many bytes of the content.
    private func isBeyond(_ offset: Int64) -> Bool { offset > min(reach, total ?? .max) }

    /// The beginning of an upload that is new on the server.
    private mutating func begin() -> [Output] {
        guard !hasStarted else { return [] }
        hasStarted = true
        return [.started(offset: 0)]
    }

    private mutating func confirm(_ offset: Int64) -> [Output] {
        if offset > highestConfirmed { (highestConfirmed, failures) = (offset, 0) }
        return rewind(to: offset)
    }

    private mutating func rewind(to offset: Int64) -> [Output] {
        self.offset = offset
        defer { isPaused = false }
        if !hasStarted {
            hasStarted = true
            return [.started(offset: offset)]
        }
        return isPaused ? [.resumed(offset: offset)] : [.confirmed(offset)]
    }

    private func resolved(_ text: String) -> URL? {
        guard text.utf8.count <= 8192, let url = URL(string: text, relativeTo: locationBase)?.absoluteURL,
            let origin = Origin(url)
        else { return nil }
        // Content that was to go over TLS stays there.
        return locationBase.scheme?.lowercased() == "https" && origin.scheme != "https" ? nil : url
    }

    /// The request that ends the upload on the server, if it exists there.
    var termination: UploadRequest? { location.flatMap { dialect.termination(at: $0) } }
}

extension ResponseHead {
    /// Whether the status may be another one later, for responses that no dialect reads: those that one reads
    /// follow ``UploadDialect/common(_:to:)``.
    var isTemporary: Bool {
        switch status.code {
        case 408, 423, 425, 429, 500, 502...504: true
        default: false
        }
    }
}

extension NetworkError {
    /// Whether the connection is the cause, or the server for a while, so that a transfer may go on later.
    var isRecoverable: Bool {
        if code == .status { return head?.isTemporary == true }
        if [.unreachable, .queueTimeout, .circuitOpen].contains(code) { return true }
        return code != .digestMismatch
            && !code.recoveryOptions.intersection([.retry, .retryIfIdempotent]).isEmpty
    }

    static func invalid(_ message: String, _ head: ResponseHead) -> NetworkError {
        var error = NetworkError(.invalidResponse, message)
        error.head = head
        return error
    }

    fileprivate static func unexpected(_ head: ResponseHead) -> NetworkError {
        invalid("the status \(head.status.code) does not fit the upload", head)
    }

    fileprivate static func badLocation(_ head: ResponseHead) -> NetworkError {
        invalid("the upload's Location is no http or https URL, or leads from https to http", head)
    }

    fileprivate static func movedLocation(_ head: ResponseHead) -> NetworkError {
        invalid("the server named two different places (Location) for one upload", head)
    }

    fileprivate static func noProgress(_ head: ResponseHead) -> NetworkError {
        invalid("the server accepted nothing of the content, and does not call the upload complete", head)
    }

    fileprivate static func beyond(_ offset: Int64, _ head: ResponseHead) -> NetworkError {
        invalid("the server's offset \(offset) is outside of what was sent to it", head)
    }
}
