import HTTPTypes
public import RxLite

extension Observable where Element == TransferEvent, Failure == NetworkError {
    /// Writes the body to a file and reports the progress; ends when the file is at `path`, complete and synced.
    ///
    /// Until then the bytes are beside it, in `path` with `.part` behind; when the stream fails or is cancelled these
    /// are of no use, and the next download to the path replaces them. A slow disk stops the network. There is no limit
    /// of size. A 204 or 205 fails with `noContent`, and an existing file at `path` stays. Use a client's `download` to
    /// resume after an interruption.
    ///
    /// ```swift
    /// client.stream(.post("/report", .json(["year": 2026]))).file(at: "/tmp/report.pdf", in: files)
    ///     .subscribe(onFinish: { print("saved") })
    /// ```
    ///
    /// - Returns: the progress, as of ``RxLite/Observable/downloadProgress()``; its bytes have been written.
    public func file(
        at path: String, in files: any FileSystem
    ) -> Observable<TransferProgress, NetworkError> {
        let clock = scheduler ?? ActorScheduler.shared
        let draft = path + ".part"
        let written = afterHead { head, rest throws(NetworkError) in
            if head.status == .noContent || head.status == .resetContent { throw .noFile(head) }
            let expected = head.isCoded ? nil : head.contentLength
            return files.append(rest.chunks(), to: draft, at: 0)
                .map { TransferProgress(bytes: $0, expected: expected) }
        }
        let moved = Observable<TransferProgress, NetworkError>.deferred {
            files.move(draft, to: path).flatMap { _ in .empty() }
        }
        return .concat([written.throttled(on: clock), moved])
    }
}

extension NetworkError {
    /// The error for a response that is a success and has no content to put into a file.
    package static func noFile(_ head: ResponseHead) -> NetworkError {
        var error = NetworkError(.noContent, "the response has no content, so there is no file")
        error.head = head
        return error
    }
}
