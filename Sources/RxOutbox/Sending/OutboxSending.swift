#if Outbox
import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite

/// The attempts of an outbox: which entry is sent next, and what its outcome changes.
extension OutboxRun {
    /// Performs the steps that are due, and sets the timer for the next one. To be called after each change
    /// of the plan, and of all that its steps depend on: the lease, the account, the network, the store's
    /// state.
    func advance() {
        guard !isStopped, lease != nil, hasLoadedUnderLease, isAccountKnown, state.value.storeFailure == nil
        else {
            if isDraining { finishDraining() }
            return showCounts()
        }
        let isOnline = state.value.isOnline
        while let step = plan.next(at: currentDate, account: account, isOnline: isOnline) {
            switch step {
            case .send(let entry, let before): begin(entry, before)
            case .bury(let entry): settle(entry)
            case .hold(let entry): publish(.entry(entry), of: entry.id)
            }
        }
        if let time = plan.wakeTime(isOnline: isOnline) {
            let seconds = time.timeIntervalSince(currentDate)
            let delay = Duration.seconds(min(max(seconds, 0), 1e9))
            wakeTimer.set(after: min(delay, Self.longestSleep)) { self.advance() }
        } else {
            wakeTimer.cancel()
        }
        showCounts()
        if isDraining { finishDraining() }
    }

    /// Stores that an attempt begins, and then makes it.
    private func begin(_ entry: OutboxEntry, _ before: OutboxEntry) {
        guard let lease else { return }
        perform(store.change(.begin(entry.id, entry.delivery), under: lease)) { result in
            // After another lease the entry may be busy again, for another attempt.
            guard self.lease?.number == lease.number, self.plan.isBusy(entry.id), !self.isStopped else {
                return
            }
            switch result {
            case .success(.applied(let content)):
                self.count(.applied(nil))
                self.publish(.entry(entry), of: entry.id)
                self.events.send(.sending(entry))
                self.decodeEndpoint(of: entry, content ?? Data())
            case .success(.gone):
                self.plan.remove(entry.id)
                self.findReceipt(entry.id, mayBeStored: false)
                self.advance()
            case .success(.leaseLost): self.loseLease()
            case .failure(let error):
                self.plan.settle(before)
                self.storeFails(error)
            }
        }
    }

    /// Reads the endpoint and checks its files.
    private func decodeEndpoint(of entry: OutboxEntry, _ content: Data) {
        let endpoint: any OutboxEndpoint
        do throws(OutboxFormError) {
            endpoint = try endpointTypes.endpoint(of: entry, content)
        } catch {
            let verdict: DeliveryRules.Verdict =
                error.mayBeNewer
                ? .again(.unreadable(error.description), notBefore: nil)
                : .dead(.unreadable(error.description))
            return fail(entry, verdict, mayHaveArrived: false)
        }
        guard !entry.attachments.isEmpty else { return transfer(endpoint, entry, content) }
        let lease = lease?.number
        perform(OutboxAttachment.firstChange(in: entry.attachments, of: files)) { result in
            guard self.lease?.number == lease, self.plan.isBusy(entry.id), !self.isStopped else { return }
            switch result {
            case .success(nil): self.transfer(endpoint, entry, content)
            case .success(let changed?):
                self.fail(entry, .dead(.attachment(path: changed.path)), mayHaveArrived: false)
            case .failure(let error):
                // The disk may be there again later.
                self.fail(
                    entry, .again(.failure(OutboxFailure(error)), notBefore: nil), mayHaveArrived: false)
            }
        }
    }

    private func transfer<E: OutboxEndpoint>(_ endpoint: E, _ entry: OutboxEntry, _ content: Data) {
        // The account may have changed while files were read.
        guard entry.account == nil || entry.account == account else {
            return fail(entry, .again(.account, notBefore: nil), mayHaveArrived: false)
        }
        let arrivals = ArrivalGuard(limits(of: endpoint, entry)) { self.currentDate }
        let id = entry.id
        let subscription = client.typedResponse(endpoint.guarded(by: entry.guarantee, arrivals)).observe(
            onNext: { result in
                self.scope.enter { self.succeed(id, result.output, result.response, content) }
            },
            onEnd: { completion in
                guard case .failed(let error) = completion else { return }
                self.scope.enter { self.fail(id, error, arrivals) }
            })
        if subscription.isActive { transfers[id] = (subscription, arrivals) }
    }

    private func limits(of endpoint: some OutboxEndpoint, _ entry: OutboxEntry) -> ArrivalGuard.Limits {
        var limits = ArrivalGuard.Limits()
        limits.isSingle = entry.guarantee == .atMostOnce
        limits.isSafe = endpoint.method == .get || endpoint.method == .head
        limits.usesSession =
            client.configuration.session != nil && endpoint.options.usesSession != false
        if case .key(_, let rules) = entry.guarantee { limits.safeTime = rules.safeTime }
        limits.mayHaveArrivedSince = plan.mayHaveArrivedSince(before: entry.id)
        limits.expires = entry.expires
        return limits
    }

    private func succeed(_ id: OutboxID, _ output: any Sendable, _ response: Response, _ content: Data) {
        guard !isStopped, let entry = plan.entries[id], plan.succeed(id) != nil else { return }
        transfers[id] = nil
        let date = currentDate
        let receipt = receipt(of: entry, content, response, at: date)
        save(.complete(id, receipt)) { _ in
            self.plan.remove(id)
            self.publish(.delivered(output), of: id)
            let time = Duration.seconds(date.timeIntervalSince(entry.created))
            self.events.send(.delivered(entry, after: max(time, .zero)))
            if receipt != nil { self.countReceipt() }
            self.advance()
        }
    }

    private func fail(_ id: OutboxID, _ error: NetworkError, _ arrivals: ArrivalGuard) {
        guard !isStopped, let entry = plan.entries[id] else { return }
        let mayHaveArrived = arrivals.mayHaveArrived
        let verdict = DeliveryRules.verdict(
            on: error, under: entry.guarantee, mayHaveArrived: mayHaveArrived,
            hasAskedForOutcome: arrivals.hasAskedForOutcome, isOfLogin: arrivals.isOfLogin(error),
            at: clock.currentDate)
        fail(entry, verdict, mayHaveArrived: mayHaveArrived)
    }

    private func fail(_ entry: OutboxEntry, _ verdict: DeliveryRules.Verdict, mayHaveArrived: Bool) {
        transfers[entry.id] = nil
        let settlement = plan.fail(
            entry.id, verdict, mayHaveArrived: mayHaveArrived, at: currentDate,
            random: RandomSource.fraction())
        switch settlement {
        case .stored(let settled): settle(settled)
        case .superseded:
            save(.complete(entry.id, nil)) { _ in
                self.plan.remove(entry.id)
                self.publish(.replaced, of: entry.id)
                self.events.send(.replaced(entry.id))
                self.advance()
            }
        case .delivered, nil: break
        }
    }

    /// Stores the outcome of an attempt, or the death of an entry.
    private func settle(_ entry: OutboxEntry) {
        save(.settle(entry.id, entry.delivery)) { outcome in
            guard case .applied = outcome else {
                self.plan.remove(entry.id)
                self.findReceipt(entry.id, mayBeStored: false)
                return self.advance()
            }
            self.plan.settle(entry)
            self.publish(.entry(entry), of: entry.id)
            self.events.send(entry.delivery.deadReason == nil ? .waiting(entry) : .died(entry))
            self.advance()
        }
    }
}
#endif
