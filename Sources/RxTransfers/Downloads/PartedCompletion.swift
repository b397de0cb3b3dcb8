import RxHTTP
import RxLite
import Synchronization

/// The end of a download in parts: its digests, and the move of the file to its path.
extension PartedRun {
    /// Compares the digests, and moves the file to its path.
    func complete() {
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
            return moveFile(nil, plan)
        }
        let check = Check(expected)
        let name = file.location.path
        let content = file.files.read(file.draft, from: 0, count: plan.written)
        perform(content.map { check.update($0) }.collect()) { _ in
            do throws(NetworkError) {
                self.moveFile(try check.finish(of: name), plan)
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

    private func moveFile(_ digest: TransferDigest?, _ plan: PartedPlan) {
        let size = plan.written
        var whole = plan
        whole.join()
        // An empty append sets the size and syncs the content: before the record says that the file is complete.
        let moved: Observable<Void, NetworkError> = .concat([
            file.append(.empty(), at: plan.draftSize ?? size).flatMap { _ in .empty() },
            stored(whole).flatMap { _ in .empty() },
            file.append(.empty(), at: size).flatMap { _ in .empty() },
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
}
