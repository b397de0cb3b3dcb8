#if Outbox
import RxHTTP
import RxLite

/// The end of an outbox: entries in flight are waited for, and the store is closed.
extension OutboxRun {
    func drain(within limit: Duration, _ report: @escaping @Sendable (Int) -> Void) {
        scope.enter {
            guard !self.isStopped else { return report(self.plan.counts.pending) }
            self.drainReports.append(report)
            self.isDraining = true
            self.setRole(.closed)
            self.drainTimer.set(after: limit) { self.stop() }
            self.advance()
        }
    }

    /// Stops once nothing is to be done at this time.
    func finishDraining() {
        guard isDraining, !isStopped, addingCount == 0, plan.busyCount == 0 else { return }
        guard revision != nil && !isBehind && isAccountKnown || state.value.storeFailure != nil else {
            return
        }
        stop()
    }

    /// Stops without waiting, since nobody has the outbox any more. From any thread.
    func abandon() {
        scope.enter { self.stop() }
    }

    /// The scope stays open: through it everybody gets a reply who comes, or is still waiting for one.
    private func stop() {
        guard !isStopped else { return }
        isStopped = true
        isDraining = true
        timerScope.close()
        let running = transfers
        cancelTransfers()
        let unsent = plan.sending.filter { running[$0]?.arrivals.mayHaveArrived != true }
        unsaved = []
        subscriptions.cancel()
        setRole(.closed)
        for id in watchers.ids { publish(.closed, of: id) }
        saveUnsent(unsent) {
            let lease = self.lease
            self.lease = nil
            let reports = self.drainReports
            self.drainReports = []
            let remaining = self.plan.counts.pending
            let release = lease.map { self.store.release($0) } ?? .just(())
            self.perform(release) { _ in
                self.perform(self.store.close()) { _ in
                    for report in reports { report(remaining) }
                }
            }
        }
    }

    /// Stores of attempts that were cancelled before a request was sent that they have certainly not arrived.
    private func saveUnsent(_ ids: [OutboxID], then finish: @escaping @Sendable () -> Void) {
        guard let lease else { return finish() }
        let changes = ids.compactMap { id -> OutboxChange? in
            let settlement = plan.fail(
                id, .again(.interrupted, notBefore: nil), mayHaveArrived: false, at: currentDate,
                random: RandomSource.fraction())
            return switch settlement {
            case .stored(let entry): .settle(id, entry.delivery)
            case .superseded: .complete(id, nil)
            case .delivered, nil: nil
            }
        }
        guard !changes.isEmpty else { return finish() }
        savingCount = changes.count
        for change in changes {
            // Whether it succeeds or not: the next run repeats what is not stored, as far as that is safe.
            perform(store.change(change, under: lease)) { result in
                // What has been removed from the store does not remain.
                if case .complete = change, case .success(.applied) = result { self.plan.remove(change.id) }
                self.savingCount -= 1
                if self.savingCount == 0 { finish() }
            }
        }
    }
}
#endif
