public import RxLite
import Synchronization

extension HSTSStore {
    // MARK: Reading

    /// Reads the file, as the first request also does. One value, then the end.
    ///
    /// Fails if the file cannot be read; the file is then never overwritten, and the next call or request
    /// tries again. Until then the store contains only hosts learned since its creation. Malformed lines are
    /// skipped.
    public func restore() -> Observable<Void, NetworkError> {
        .deferred {
            self.contents.withLock { contents in
                guard !contents.isRestored, let file = self.file else { return .just(()) }
                if let running = contents.restoring { return running }
                let run = self.restore(file.path, on: file.files).share(replay: 1, reset: [])
                contents.restoring = run
                return run
            }
        }
    }

    /// The same for requests, which are sent even if it fails.
    package var restored: Observable<Void, NetworkError> { restore().catch { _ in .just(()) } }

    package var isRestored: Bool { contents.withLock { $0.isRestored } }

    private func restore(_ path: String, on files: any FileSystem) -> Observable<Void, NetworkError> {
        files.contents(of: path, limit: HSTSFile.sizeLimit)
            .map { bytes in self.endRestoring(HSTSFile.entries(bytes ?? [])) }
            .catch { error in
                let ended = self.contents.withLock { $0.restoring.take() }
                return withExtendedLifetime(ended) { .fail(error) }
            }
    }

    private func endRestoring(_ saved: [(host: String, entry: HSTSHosts.Entry)]) {
        let ended = contents.withLock { contents in
            if !contents.isCleared {
                for (host, entry) in saved { contents.hosts.restore(entry, for: host) }
            }
            contents.isRestored = true
            return contents.restoring.take()
        }
        withExtendedLifetime(ended) {}
    }

    // MARK: Writing

    /// Waits until all changes so far are in the file: one value, then the end. Fails if the file cannot be
    /// written; the next change or flush tries again.
    public func flush() -> Observable<Void, NetworkError> {
        .create { emitter in
            guard self.file != nil, self.saving.withLock({ $0.wait(emitter) }) else {
                emitter.send(())
                return emitter.finish()
            }
            self.write()
        }
    }

    /// Saves a change.
    func save() {
        guard file != nil else { return }
        saving.withLock { $0.noteChange(isUrgent: true) }
        write()
    }

    private func write() {
        guard let file, let change = saving.withLock({ $0.beginWriting() }) else { return }
        restored
            .flatMap { () throws(NetworkError) -> Observable<Void, NetworkError> in
                let entries = self.contents.withLock { $0.isRestored ? $0.hosts.entries : nil }
                guard let entries else {
                    throw NetworkError(
                        .file, "the HSTS file \(file.path) could not be read, so it is not overwritten")
                }
                // Writes begin where responses arrive, so the text is made elsewhere.
                return file.files.replace(file.path, making: { HSTSFile.bytes(entries) })
            }
            .subscribe(onNext: {}) { self.endWriting(change, $0) }
    }

    private func endWriting(_ change: Int, _ completion: Completion<NetworkError>) {
        let isSaved = if case .finished = completion { true } else { false }
        let (ready, isAwaited) = saving.withLock { saving in
            (saving.endWriting(change, isSaved: isSaved), saving.isAwaited)
        }
        for waiter in ready {
            if case .failed(let error) = completion {
                waiter.fail(error)
            } else {
                waiter.send(())
                waiter.finish()
            }
        }
        if isAwaited { write() }
    }
}
