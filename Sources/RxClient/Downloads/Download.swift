import FoundationEssentials
import RxHTTP
import RxLite
import Synchronization

/// A download to a path: the locations of its files, and its attempts.
struct Download: Sendable {
    /// The path of the file or its folder as the caller wrote it.
    let path: String
    let file: ReservedFile
    /// The URL of the request, before redirects.
    let source: URL
    let clock: any Scheduler
    /// The URL without what does not identify the file, as stored in the record.
    let url: String
    /// Whether the request can ask for part of a response.
    let isResumable: Bool

    /// Sends the prepared request. The stage ``StatusCheck`` makes a failure of every status except successes and 416.
    typealias Send =
        @Sendable (
            _ prepare: @escaping @Sendable (inout Request) -> Void
        ) -> Observable<TransferEvent, NetworkError>

    /// Runs one attempt. After a failure, the next attempt continues from its partial file.
    func attempt(_ send: @escaping Send) -> Observable<DownloadEvent, NetworkError> {
        plan.flatMap(.concat) { plan in attempt(plan, send) }
    }

    // MARK: - Local state

    private var plan: Observable<DownloadPlan, NetworkError> {
        guard isResumable else { return .just(.fromTheStart) }
        return file.files.status(of: file.draft).flatMap(.concat) { status in
            guard let status, status.size > 0 else { return .just(.fromTheStart) }
            return record.flatMap(.concat) { record in
                guard let record, record.starts != nil else {
                    return .just(DownloadPlan(url: url, record: record, size: status.size))
                }
                return plan(record, afterPartsIn: status)
            }
        }
    }

    /// Keeps the first of several parts that `PartedPlan` has written side by side, as far as it reaches: it may have
    /// gone on beyond the start of others.
    private func plan(
        _ record: DownloadRecord, afterPartsIn status: FileStatus
    ) -> Observable<DownloadPlan, NetworkError> {
        // The size is `PartedPlan.draftSize`: the content, and a mark for each slot.
        guard record.url == url, let length = record.length, let starts = record.starts,
            status.size == length + DownloadRecord.markSize * Int64(starts.count + 1)
        else { return .just(.fromTheStart) }
        let pieces = file.files.read(file.draft, from: length, count: DownloadRecord.markSize)
        let mark: Observable<[UInt8], NetworkError> = pieces.reduce([]) { $0 + $1 }
        let extent = file.files.extent(of: file.draft, from: 0)
        let found: Observable<([UInt8], Int64), NetworkError> = .zip(mark, extent)
        return found.flatMap(.concat) { mark, extent throws(NetworkError) in
            let reached: Int64 = DownloadRecord.offsets(in: mark).first ?? 0
            return try cut(record.withoutParts, at: min(min(reached, extent), length))
        }
    }

    /// Stores a record without parts, then cuts off the partial file. If the process ends in between, the
    /// partial file is longer than its record says, and counts as none.
    private func cut(
        _ record: DownloadRecord, at size: Int64
    ) throws(NetworkError) -> Observable<DownloadPlan, NetworkError> {
        let plan = DownloadPlan(url: url, record: record, size: size)
        return .concat([
            file.replaceRecord(with: try record.encoded()).flatMap { _ in .empty() },
            file.append(.empty(), at: size).flatMap { _ in .empty() },
            .just(plan),
        ])
    }

    private var record: Observable<DownloadRecord?, NetworkError> {
        file.files.contents(of: file.record, limit: DownloadRecord.sizeLimit)
            .catch { error -> Observable<[UInt8]?, NetworkError> in
                error.code == .tooLarge ? .just(nil) : .fail(error)
            }
            .map { bytes throws(NetworkError) -> DownloadRecord? in
                guard let bytes else { return nil }
                return DownloadRecord(bytes)
            }
    }

    // MARK: - Response

    private enum Step: Sendable {
        case event(DownloadEvent)
        /// Sends another request: by this plan, or without one by what is on the disk now.
        case attempt(DownloadPlan?)
    }

    private func attempt(
        _ plan: DownloadPlan, _ send: @escaping Send
    ) -> Observable<DownloadEvent, NetworkError> {
        arrivals(of: send { plan.prepare(&$0) }, plan)
            .flatMap(.concat) { step in
                switch step {
                case .event(let event): .just(event)
                case .attempt(let plan?): attempt(plan, send)
                case .attempt(nil): attempt(send)
                }
            }
    }

    private func arrivals(
        of response: Observable<TransferEvent, NetworkError>, _ plan: DownloadPlan
    ) -> Observable<Step, NetworkError> {
        .deferred(on: response.scheduler) {
            let url = Mutex(source)
            let events = response.map { event in
                if case .redirected(let request, _) = event { url.withLock { $0 = request.url } }
                return event
            }
            return events.afterHead { head, rest throws(NetworkError) in
                let name = file.location.isFolder ? FileName(head, from: url.withLock { $0 }) : nil
                let known = plan.start?.record.name.flatMap(FileName.init(safe:)) ?? name
                switch plan.decide(head) {
                case .append(let offset, let end, let total):
                    return write(rest, of: head, named: known, from: offset, end: end, total: total)
                case .begin(let total): return begin(rest, of: head, named: name, total: total)
                case .complete(let total): return finish(head, named: known, size: total, from: total)
                case .startOver: return .just(.attempt(.fromTheStart))
                case .refuse:
                    var error = NetworkError(
                        .invalidResponse, "the server sent a part (206) for a request without Range")
                    error.head = head
                    throw error
                case .nothing: throw .noFile(head)
                }
            }
        }
    }

    /// The record must never describe a later version than the partial file: so the old bytes are removed
    /// first, then the record is written, then the new bytes follow.
    private func begin(
        _ body: Observable<TransferEvent, NetworkError>, of head: ResponseHead, named name: FileName?,
        total: Int64?
    ) -> Observable<Step, NetworkError> {
        let record =
            isResumable && !head.isCoded
            ? DownloadRecord(of: url, from: head, length: total, name: name?.text) : nil
        return .concat([
            // Truncates the file instead of removing it, because it is locked.
            file.append(.empty(), at: 0).flatMap { _ in .empty() },
            .deferred { () throws(NetworkError) in
                guard let record else { return file.removeRecord().flatMap { _ in .empty() } }
                return file.replaceRecord(with: try record.encoded()).flatMap { _ in .empty() }
            },
            .deferred { write(body, of: head, named: name, from: 0, end: total, total: total) },
        ])
    }

    private func write(
        _ body: Observable<TransferEvent, NetworkError>, of head: ResponseHead, named name: FileName?,
        from offset: Int64, end: Int64?, total: Int64?
    ) -> Observable<Step, NetworkError> {
        .deferred {
            let written = WrittenSize(offset, limit: end, head: head)
            let progress = file.append(written.limit(body.chunks()), at: offset)
                .map { size in
                    written.size = size
                    return TransferProgress(bytes: size, expected: total)
                }
                .throttled(on: clock)
                .map { Step.event(.progress($0)) }
            return .concat([
                progress,
                .deferred { () throws(NetworkError) in
                    if let end, written.size < end { throw written.incomplete }
                    // A server may send less than the requested part.
                    guard written.size == total ?? written.size else { return .just(.attempt(nil)) }
                    return moveIntoPlace(head, named: name, size: written.size, from: offset)
                },
            ])
        }
    }

    /// Completes the file. Bytes that an earlier process has written may still need a sync.
    private func finish(
        _ head: ResponseHead, named name: FileName?, size: Int64, from offset: Int64
    ) -> Observable<Step, NetworkError> {
        .concat([
            file.append(.empty(), at: size).map {
                .event(.progress(TransferProgress(bytes: $0, expected: size)))
            },
            .deferred { moveIntoPlace(head, named: name, size: size, from: offset) },
        ])
    }

    /// Moves the file to its path, or in a folder to the first of its names that does not exist.
    private func moveIntoPlace(
        _ head: ResponseHead, named name: FileName?, size: Int64, from offset: Int64
    ) -> Observable<Step, NetworkError> {
        let moved = name.map { move(to: $0, number: 0) } ?? file.moveDraft().map { path }
        return moved.flatMap(.concat) { path in
            let downloaded = DownloadedFile(path: path, size: size, resumedFrom: offset, head: head)
            return .concat([
                file.removeRecord().flatMap { _ in .empty() },
                .just(.event(.finished(downloaded))),
            ])
        }
    }

    private func move(to name: FileName, number: Int) -> Observable<String, NetworkError> {
        let text = number == 0 ? name.text : name.numbered(number)
        return file.moveDraft(toNew: text).flatMap(.concat) { isMoved throws(NetworkError) in
            if isMoved { return .just(path.hasSuffix("/") ? path + text : path + "/" + text) }
            guard number < Self.mostNumbers else {
                throw NetworkError(.file, "\(path) has too many files named \(name.text)")
            }
            return move(to: name, number: number + 1)
        }
    }

    /// The number in the last name that is tried in a folder.
    private static let mostNumbers = 999
}

/// The number of bytes written to a file, and the maximum.
private final class WrittenSize: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    /// The bytes that are in the file; `received` ones may still be on the way there.
    var size: Int64
    private var received: Int64
    private let end: Int64?
    private let head: ResponseHead

    init(_ offset: Int64, limit end: Int64?, head: ResponseHead) {
        size = offset
        received = offset
        self.end = end
        self.head = head
    }

    /// Fails before the first byte beyond the maximum.
    func limit(_ chunks: Observable<[UInt8], NetworkError>) -> Observable<[UInt8], NetworkError> {
        guard let end else { return chunks }
        return chunks.map { bytes throws(NetworkError) in
            self.received += Int64(bytes.count)
            guard self.received <= end else {
                throw self.error(.invalidResponse, "the response is longer than its head announced")
            }
            return bytes
        }
    }

    var incomplete: NetworkError { error(.partialBody, "the response ended before it was complete") }

    private func error(_ code: NetworkError.Code, _ message: String) -> NetworkError {
        var error = NetworkError(code, message)
        error.head = head
        return error
    }
}
