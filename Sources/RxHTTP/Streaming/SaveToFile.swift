import HTTPTypes
public import RxLite

extension Observable where Element == TransferEvent, Failure == NetworkError {
    /// Writes the body to a file and reports the progress; ends when the file is complete and synced at
    /// `path`.
    ///
    /// Until then the bytes are in a file beside it, `path` with `.part` appended. If the stream fails or is
    /// cancelled, that file is useless, and the next download to the path replaces it. While another download to
    /// the path is running, the stream fails with `file`. A slow disk slows the network down. The size is unlimited.
    /// A 204 or 205 fails with `noContent` and leaves an existing file at `path` unchanged. To resume after an
    /// interruption, use a client's `download`.
    ///
    /// ```swift
    /// client.stream(.post("/report", .json(["year": 2026]))).file(at: "/tmp/report.pdf", in: files)
    ///     .subscribe(onFinish: { print("saved") })
    /// ```
    ///
    /// - Returns: the progress, as in ``Observable/downloadProgress()``; its bytes have been written.
    public func file(
        at path: String, in files: any FileSystem
    ) -> Observable<TransferProgress, NetworkError> {
        let clock = scheduler ?? ActorScheduler.shared
        return files.reserving(path, on: scheduler) { file in
            let written = afterHead { head, rest throws(NetworkError) in
                if head.status == .noContent || head.status == .resetContent { throw .noFile(head) }
                let expected = head.isCoded ? nil : head.contentLength
                return file.append(rest.chunks(), at: 0)
                    .map { TransferProgress(bytes: $0, expected: expected) }
            }
            let moved = Observable<TransferProgress, NetworkError>.deferred {
                file.moveDraft().flatMap { _ in .empty() }
            }
            return .concat([written.throttled(on: clock), moved])
        }
    }
}

extension NetworkError {
    /// The error for a successful response without content to write to a file.
    package static func noFile(_ head: ResponseHead) -> NetworkError {
        var error = NetworkError(.noContent, "the response has no content to write to a file")
        error.head = head
        return error
    }
}
