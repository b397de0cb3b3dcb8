import RxCookies
import RxHTTP
import RxLite
import Synchronization

extension Session {
    /// Takes over what another session has done with the credential in the store: a renewal, a login, a logout.
    ///
    /// A login of this session that runs or waits for the lease ends with it.
    func followStore() {
        let (start, current) = contents.withLock { contents in
            (contents.isRestored ? contents.state.credentialVersion : nil, contents.state.credential)
        }
        guard let stored, let start else { return }
        stored.checkAfterChange(of: current).subscribe { [weak self] finding in
            guard let self else { return }
            // Meanwhile this session has changed its credential, to one that may be newer than what was read.
            guard contents.withLock({ $0.state.credentialVersion == start }) else { return followStore() }
            switch finding {
            case .unchanged: break
            case .newer(let found): take(found, insteadOf: start)
            case .none: take(nil, insteadOf: start)
            }
        }
    }

    /// Adopts the content of the store, unless this session has changed its credential since `start`.
    private func take(_ found: Credential?, insteadOf start: CredentialVersion) {
        let date = clock.date
        let change = contents.withLock { contents -> Following? in
            guard contents.state.credentialVersion == start else { return nil }
            let waiters = stored?.adopt(found) ?? []
            let former = contents.state.credential
            guard let found else {
                contents.state.change(to: nil, date: date)
                countsLogins.store(false, ordering: .relaxed)
                let jars = contents.switchJars(from: former, to: nil, seed)
                return Following(contents.endLogin(), waiters, .loggedOut(nil), jars)
            }
            let arrival = contents.state.receive(found, date: date)
            contents.adopted = contents.state.credentialVersion
            guard case .loggedIn = arrival else {
                return Following(contents.endLogin(), waiters, .renewed, [])
            }
            let jars = contents.switchJars(from: former, to: found, seed)
            return Following(contents.endLogin(), waiters, .loggedIn, jars)
        }
        guard let change else { return followStore() }
        for waiter in change.waiters {
            waiter.send(())
            waiter.finish()
        }
        for jar in change.jars { jar.finishSwitch() }
        // The order is that of `change(to:)`. This also ends the login that waits, and lets its requests proceed.
        accountChanged.send()
        signal.send(change.event)
    }

    /// The work to do outside the lock.
    private struct Following {
        /// The login that has been overtaken, for release.
        let ended: Observable<Void, NetworkError>
        /// The callers that waited for a change which has become outdated.
        let waiters: [WriteCoalescer.Waiter]
        let event: Event
        let jars: [CookieJar]

        init(
            _ ended: Observable<Void, NetworkError>, _ waiters: [WriteCoalescer.Waiter], _ event: Event,
            _ jars: [CookieJar]
        ) {
            self.ended = ended
            self.waiters = waiters
            self.event = event
            self.jars = jars
        }
    }
}
