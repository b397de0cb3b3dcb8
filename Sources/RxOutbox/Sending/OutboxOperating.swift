#if Outbox
import RxClient
import RxHTTP
import RxLite

/// The changes that operators make to dead letters.
extension OutboxRun {
    /// A change of a dead letter.
    func operate(_ change: OutboxChange) -> Observable<Void, NetworkError> {
        Observable { observer in
            guard observer.scope.isOpen else { return }
            // Not in the lane of the outbox, which takes no more work after its end.
            _ = self.store.change(change, under: nil).observe(
                onNext: { outcome in
                    guard case .applied = outcome else {
                        let error = NetworkError(
                            .undelivered, "the outbox has no dead letter \(change.id)")
                        return observer.scope.enter { observer.emitOnly(.failure(error)) }
                    }
                    self.scope.enter {
                        self.count(.applied(nil))
                        self.apply(change)
                        self.advance()
                    }
                    observer.scope.enter { observer.emitOnly(.success(())) }
                },
                onEnd: { completion in
                    guard case .failed(let error) = completion else { return }
                    observer.scope.enter { observer.emitOnly(.failure(error)) }
                })
        }
    }

    private func apply(_ change: OutboxChange) {
        switch change {
        case .revive(let entry, _):
            plan.insert(entry)
            publish(.entry(entry), of: entry.id)
        case .discard(let id):
            plan.remove(id)
            publish(.gone, of: id)
        case .begin, .settle, .complete: break
        }
    }
}
#endif
