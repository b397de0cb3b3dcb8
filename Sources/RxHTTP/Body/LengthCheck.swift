import RxLite

extension Observable where Element == [UInt8], Failure == NetworkError {
    /// The same chunks, if they total exactly `length` bytes. The chunk that completes them is held back
    /// until the source ends, so that a body that is too long is never sent as if it were complete.
    func checked(against length: Int64) -> Observable {
        lift { observer in
            let check = LengthCheck(length, observer)
            return Observer(scope: check.scope, next: check.receive, end: check.receive)
        }
    }
}

/// The state of one length check.
private final class LengthCheck: @unchecked Sendable {
    // Unchecked: runs only inside the subscription's lane, which is serial.
    let scope: Scope
    private let length: Int64
    private let observer: Observer<[UInt8], NetworkError>
    private var count: Int64 = 0
    private var last: [UInt8]?

    init(_ length: Int64, _ observer: Observer<[UInt8], NetworkError>) {
        self.length = length
        self.observer = observer
        scope = observer.scope.child()
    }

    @Sendable
    func receive(_ chunk: [UInt8]) {
        guard !chunk.isEmpty else { return }
        count += Int64(chunk.count)
        if count < length { return observer.next(chunk) }
        if count == length {
            last = chunk
            return
        }
        end(.failed(NetworkError(.bodyLength, "the body is longer than its announced \(length) bytes")))
    }

    @Sendable
    func receive(_ completion: Completion<NetworkError>) {
        guard case .finished = completion else { return end(completion) }
        guard count == length else {
            let message = "the body ended after \(count) of its announced \(length) bytes"
            return end(.failed(NetworkError(.bodyLength, message)))
        }
        if let last { observer.next(last) }
        if observer.scope.isOpen { end(.finished) }
    }

    private func end(_ completion: Completion<NetworkError>) {
        scope.close()
        last = nil
        observer.end(completion)
    }
}
