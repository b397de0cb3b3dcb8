import FoundationEssentials
import RxHTTP
import RxLite
import RxLoop
import Synchronization

/// The alternative services that a transport knows, shared by its loops and saved in a file for the next
/// process.
final class AlternativeServices: Sendable {
    typealias HTTPSOrigin = AlternativeTable.HTTPSOrigin

    private struct Contents {
        var table = AlternativeTable()
        var isLoaded: Bool
        /// The callers that wait until the file has been read.
        var waiting: [@Sendable () -> Void] = []
        /// Whether the file is no longer used because it could not be read.
        var isFileUnusable = false
        var isSaving = false
        /// Whether the table has changed since its last write began.
        var isChanged = false
    }

    private let contents: Mutex<Contents>
    private let path: String?
    private let onFailure: (@Sendable (NetworkError) -> Void)?
    /// In seconds since 1970.
    private let now: @Sendable () -> Int

    /// - Parameters:
    ///   - path: the path of the file; `nil` for no file.
    ///   - onFailure: called with errors of the file.
    init(
        path: String?, onFailure: (@Sendable (NetworkError) -> Void)? = nil,
        now: @escaping @Sendable () -> Int = { Int(Date().timeIntervalSince1970) }
    ) {
        contents = Mutex(Contents(isLoaded: path == nil))
        self.path = path
        self.onFailure = onFailure
        self.now = now
    }

    /// Whether HTTP/3 may be tried at `origin`: it has not failed recently and, if `needsName`, the origin has
    /// advertised it.
    func offersHTTP3(_ origin: HTTPSOrigin, needsName: Bool) -> Bool {
        let now = now()
        return contents.withLock {
            !$0.table.isBroken(origin, at: now) && (!needsName || $0.table.namesHTTP3(origin, at: now))
        }
    }

    /// Takes the value of a response's `Alt-Svc` field.
    ///
    /// - Parameter age: the value of the response's `Age` field.
    func take(
        _ value: String, from origin: HTTPSOrigin, over version: HTTPVersion, age: String? = nil,
        on loop: EventLoop
    ) {
        let age = age.flatMap { AlternativeServiceReader.number($0, atMost: AlternativeService.longestAge) }
        let now = now()
        // The file has only the names that ``AlternativeTable`` knows; see its `curlName`.
        let source = version >= .http2 ? "h\(version.major)" : "http/1.1"
        let field = AlternativeServiceField(value.utf8)
        let isChanged = contents.withLock {
            $0.table.take(field, from: origin, over: source, age: age ?? 0, at: now)
        }
        if isChanged { save(on: loop) }
    }

    /// Records that HTTP/3 could not be reached at `origin`, or failed.
    func recordFailure(_ origin: HTTPSOrigin) {
        let now = now()
        contents.withLock { $0.table.recordFailure(origin, at: now) }
    }

    /// Records that a request over HTTP/3 got the status 421 (Misdirected Request). The alternative is
    /// forgotten (RFC 7838 §6) and, even if the origin soon advertises it again, not tried for a while,
    /// because the next request would be misdirected too.
    func recordMisdirected(_ origin: HTTPSOrigin, on loop: EventLoop) {
        let now = now()
        let isChanged = contents.withLock {
            $0.table.recordFailure(origin, at: now)
            return $0.table.forgetHTTP3(origin)
        }
        if isChanged { save(on: loop) }
    }

    /// Records that HTTP/3 worked at `origin`.
    func recordSuccess(_ origin: HTTPSOrigin) { contents.withLock { $0.table.recordSuccess(origin) } }

    // MARK: - The file

    /// Whether there is a file that has not been read yet.
    var isAwaited: Bool { path != nil && contents.withLock { !$0.isLoaded } }

    /// Calls `body` once the file has been read: immediately, or on a loop.
    func whenLoaded(on loop: EventLoop, _ body: @escaping @Sendable () -> Void) {
        let (isLoaded, isFirst) = contents.withLock { contents in
            if !contents.isLoaded { contents.waiting.append(body) }
            return (contents.isLoaded, contents.waiting.count == 1)
        }
        if isLoaded { return body() }
        guard isFirst, let path else { return }
        LoopFileSystem(loop: loop).contents(of: path, limit: AlternativeTable.fileLimit)
            .subscribe(
                onNext: { [self] text in
                    let now = now()
                    if let text { contents.withLock { $0.table.add(text, at: now) } }
                },
                onEnd: { [self] completion in loaded(completion) })
    }

    private func loaded(_ completion: Completion<NetworkError>) {
        let error: NetworkError? = if case .failed(let error) = completion { error } else { nil }
        let waiting = contents.withLock { contents in
            contents.isLoaded = true
            contents.isFileUnusable = error != nil
            defer { contents.waiting = [] }
            return contents.waiting
        }
        report(error)
        for body in waiting { body() }
    }

    /// Saves the table; changes during a write are saved together by the next write.
    private func save(on loop: EventLoop) {
        guard let path else { return }
        let now = now()
        let table: AlternativeTable? = contents.withLock { contents in
            contents.isChanged = true
            guard !contents.isSaving, !contents.isFileUnusable else { return nil }
            contents.isSaving = true
            contents.isChanged = false
            return contents.table
        }
        guard let table else { return }
        // The loop is receiving a response, so the text is made elsewhere.
        LoopFileSystem(loop: loop).replace(path, making: { table.text(at: now) })
            .subscribe(
                onNext: {},
                onEnd: { [self] completion in
                    if case .failed(let error) = completion { report(error) }
                    let isChanged = contents.withLock { contents in
                        contents.isSaving = false
                        return contents.isChanged
                    }
                    if isChanged, case .finished = completion { save(on: loop) }
                })
    }

    /// Reports an error, unless the loop has been shut down, which is not a fault of the file.
    private func report(_ error: NetworkError?) {
        if let error, error.code != .shutDown { onFailure?(error) }
    }
}
