internal import RxHTTP
internal import RxLite
internal import RxLoop

extension EventLoop {
    /// The bytes, compressed on a thread of the loop's pool.
    func gzip(_ bytes: [UInt8]) -> Observable<[UInt8], NetworkError> {
        compressing { () throws(UVError) in
            let gzip = Gzip()
            return gzip.compress(bytes) + gzip.finish()
        }
    }

    /// The chunks, compressed one after another on a thread of the loop's pool.
    func gzip(_ chunks: Observable<[UInt8], NetworkError>) -> Observable<[UInt8], NetworkError> {
        .deferred { () throws(NetworkError) in
            let gzip = Gzip()
            let pieces = chunks.flatMap(.concat) { chunk in
                self.compressing { () throws(UVError) in gzip.compress(chunk) }
            }
            return .concat([pieces, self.compressing { () throws(UVError) in gzip.finish() }])
        }
    }

    private func compressing(
        _ body: @escaping @Sendable () throws(UVError) -> [UInt8]
    ) -> Observable<[UInt8], NetworkError> {
        work(body).mapError { _ in NetworkError(.shutDown, "the event loop has been shut down") }
    }
}
