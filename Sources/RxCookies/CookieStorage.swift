import FoundationEssentials
public import RxHTTP
public import RxLite
import Synchronization

/// The storage in which a ``CookieJar`` keeps its cookies for the next process.
public struct CookieStorage: Sendable {
    // Both also take the largest number of bytes, which depends on the limits of the jar.
    let load: @Sendable (_ limit: Int) -> Observable<[UInt8]?, NetworkError>
    let save: @Sendable (_ bytes: [UInt8], _ limit: Int) -> Observable<Void, NetworkError>

    /// Creates a storage.
    ///
    /// - Parameters:
    ///   - load: sends the bytes that were saved last; `nil` if nothing was saved.
    ///   - save: replaces the saved bytes atomically, and ends when they are written. Called for one save at
    ///     a time.
    public init(
        load: Observable<[UInt8]?, NetworkError>,
        save: @escaping @Sendable ([UInt8]) -> Observable<Void, NetworkError>
    ) {
        self.load = { _ in load }
        self.save = { bytes, _ in save(bytes) }
    }

    private init(
        limitedLoad load: @escaping @Sendable (Int) -> Observable<[UInt8]?, NetworkError>,
        save: @escaping @Sendable ([UInt8], Int) -> Observable<Void, NetworkError>
    ) {
        self.load = load
        self.save = save
    }

    /// A file that each save replaces, with mode 0600. A symbolic link or a file of another user is not read:
    /// reading fails with `untrustedFile`. Saving more than 22 KiB for each cookie that the jar may keep fails with `file`,
    /// and the last save stays.
    public static func file(_ path: String, on files: any FileSystem) -> CookieStorage {
        CookieStorage(
            limitedLoad: { limit in
                files.contents(of: path, limit: limit)
                    .mapError { $0.code == .tooLarge ? NetworkError(.file, $0.message) : $0 }
            },
            save: { bytes, limit in
                // Once written, it could not be read, and what cannot be read is not overwritten.
                guard bytes.count <= limit else {
                    let sizes = "\(bytes.count) bytes, more than the limit of \(limit)"
                    return .fail(NetworkError(.file, "the cookies cannot be saved: they have \(sizes)"))
                }
                return files.replace(path, with: bytes)
            })
    }
}

extension CookieJar {
    // MARK: - Restoring

    /// Adds the cookies of the storage; the first request does this too. The stream sends one value, then
    /// ends.
    ///
    /// Content that is not a jar is reported and overwritten by the next save. If the storage cannot be read,
    /// the stream fails, the storage is not overwritten, and the next call or request reads it again;
    /// meanwhile the jar works in memory. Cookies that were set before the restoration are kept.
    public func restore() -> Observable<Void, NetworkError> {
        .deferred {
            self.contents.withLock { contents in
                guard !contents.isRestored, let storage = self.storage else { return .just(()) }
                if let running = contents.restoring { return running }
                let run = self.restore(from: storage).share(replay: 1, reset: [])
                contents.restoring = run
                return run
            }
        }
    }

    /// Restores the jar before a request; completes even if restoring fails, since the request continues anyway.
    package var restoringIfPossible: Observable<Void, NetworkError> { restore().catch { _ in .just(()) } }

    package var isRestored: Bool { contents.withLock { $0.isRestored } }

    private func restore(from storage: CookieStorage) -> Observable<Void, NetworkError> {
        let limit = emptyTable.limits.fileSize
        // Deferred: `restore()` holds the lock, under which no code of a file system may run.
        let load = Observable<[UInt8]?, NetworkError>.deferred { storage.load(limit) }
        return Observable.concat([load, .just(nil)]).take(1).observe(on: clock.scheduler)
            .map { bytes throws(NetworkError) in
                do throws(NetworkError) {
                    let saved = try bytes.map { bytes throws(NetworkError) in try CookieFile(bytes: bytes) }
                    self.finishRestoring(saved?.cookies ?? [])
                } catch {
                    self.finishRestoring([])
                    throw error
                }
            }
            .catch { error in
                let ended = self.change { contents in
                    contents.events.append(.storageFailed(error))
                    return contents.restoring.take()
                }
                // Released outside the lock.
                return withExtendedLifetime(ended) { .fail(error) }
            }
    }

    private func finishRestoring(_ saved: [Cookie]) {
        let now = clock.date
        let ended = contents.withLock { contents in
            var known = emptyTable
            let restored = known.restore(
                saved.filter { cookie in !contents.earlyRemovals.contains { $0(cookie) } }, at: now)
            let early = known.restore(contents.cookies.all(at: now), at: now)
            contents.cookies = known
            contents.fromStorage = Set(restored.map(\.id)).subtracting(early.map(\.id))
            contents.isRestored = true
            contents.earlyRemovals = []
            return contents.restoring.take()
        }
        // Released outside the lock, since that may run other code.
        withExtendedLifetime(ended) {}
    }

    // MARK: - Saving

    /// Saves unsaved changes now. The stream sends one value once all changes up to this moment have been
    /// written, then ends; it fails if they cannot be written, and the next change or flush tries again.
    ///
    /// ```swift
    /// try await jar.flush().value()
    /// ```
    public func flush() -> Observable<Void, NetworkError> {
        .create { emitter in
            guard self.storage != nil, self.saving.withLock({ $0.wait(emitter) }) else {
                emitter.send(())
                return emitter.finish()
            }
            self.save()
        }
    }

    /// The cookies in the format of ``CookieStorage``: all that have not expired, optionally without session
    /// cookies.
    public func dump(includingSessionCookies: Bool = true) throws(NetworkError) -> [UInt8] {
        try CookieFile(cookies.filter { includingSessionCookies || !$0.isSession }).bytes()
    }

    /// Adds the cookies of ``dump(includingSessionCookies:)`` and replaces cookies with the same name, domain
    /// and path. Cookies that no server could have set are skipped.
    ///
    /// - Throws: `file` if the bytes are not a dump; the jar is then unchanged.
    public func restore(from bytes: [UInt8]) throws(NetworkError) {
        restore(try CookieFile(bytes: bytes).cookies, at: clock.date)
    }

    @discardableResult
    func restore(_ cookies: [Cookie], at now: Date) -> [Cookie] {
        change { contents in
            let restored = contents.cookies.restore(cookies, at: now)
            contents.fromStorage.subtract(restored.map(\.id))
            contents.events += restored.map(CookieEvent.stored)
            contents.isChanged = !restored.isEmpty
            return restored
        }
    }

    /// Schedules a save at most `delay` from now; without a delay even while a write is running.
    func saveSoon(after delay: Duration) {
        guard storage != nil else { return }
        saving.withLock { $0.recordChange(isUrgent: delay == .zero) }
        startTimer(delay)
    }

    private func startTimer(_ delay: Duration) {
        let clock = clock.scheduler
        let due = clock.now + delay
        guard saving.withLock({ $0.needsTimer(due: due) }) else { return }
        _ = clock.schedule(after: delay) { self.save() }
    }

    private func save() {
        guard let storage, let change = saving.withLock({ $0.beginWriting() }) else { return }
        restoringIfPossible
            .flatMap { () throws(NetworkError) -> Observable<Void, NetworkError> in
                guard self.isRestored else {
                    throw NetworkError(.file, "the saved cookies cannot be read, so they are kept")
                }
                return storage.save(
                    try self.dump(includingSessionCookies: self.keepsSessionCookies),
                    self.emptyTable.limits.fileSize)
            }
            .subscribe(onNext: {}) { completion in self.endSaving(change, completion) }
    }

    private func endSaving(_ change: Int, _ completion: Completion<NetworkError>) {
        let isSaved = if case .finished = completion { true } else { false }
        let (ready, isAwaited) = saving.withLock { saving in
            (saving.endWriting(change, isSaved: isSaved), saving.isAwaited)
        }
        switch completion {
        case .finished:
            for waiter in ready {
                waiter.send(())
                waiter.finish()
            }
            if isAwaited { save() } else { startTimer(saveDelay) }
        case .failed(let error):
            self.change { $0.events.append(.storageFailed(error)) }
            for waiter in ready { waiter.fail(error) }
            if isAwaited { save() }
        }
    }
}

/// A dumped jar: JSON, so that it is readable and later versions can extend it.
struct CookieFile: Codable {
    /// A file of another version is given up: the next save overwrites it.
    var version = 1
    let cookies: [Cookie]

    init(_ cookies: [Cookie]) { self.cookies = cookies }

    /// - Throws: `file` if the bytes are not a dumped jar.
    init(bytes: [UInt8]) throws(NetworkError) {
        do {
            self = try JSONDecoder().decode(CookieFile.self, from: Data(bytes))
        } catch {
            throw NetworkError(.file, "the saved cookies cannot be read: the file is not a saved jar")
        }
        guard version == 1 else {
            throw NetworkError(.file, "the saved cookies cannot be read: their version \(version) is unknown")
        }
    }

    /// - Throws: `file` for a date that JSON cannot represent, which a jar with an unlimited lifetime may
    ///   contain.
    func bytes() throws(NetworkError) -> [UInt8] {
        let encoder = JSONEncoder()
        // Dates keep the default form, seconds since 2001: files of earlier releases have it.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(self))
        } catch {
            throw NetworkError(.file, "the cookies cannot be saved: an expiry date is out of range")
        }
    }
}
