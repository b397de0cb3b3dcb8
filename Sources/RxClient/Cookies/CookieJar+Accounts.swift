import Synchronization

extension CookieJar {
    /// One of the accounts of a session.
    struct Account {
        /// Which session: its seed.
        let session: UInt64
        let identity: Int
    }

    /// What stays in the jar when another account takes its place.
    enum Kept {
        case all
        /// What has been set in this process, and does not come from the storage: there was no account, and so it is no
        /// other's. Cookies that the login has set are among it.
        case new
        case none
    }

    /// Takes note of a session's account. From now on requests of its other accounts have no part in the jar.
    func attach(_ identity: Int, of session: UInt64) {
        contents.withLock { $0.accounts[session] = identity }
    }

    /// Makes another account the session's. Calls nobody, so that it can be done under the session's lock;
    /// ``finishTurn()`` is to follow.
    func turn(to identity: Int, of session: UInt64, keeping kept: Kept) {
        contents.withLock { contents in
            contents.accounts[session] = identity
            switch kept {
            case .all: return
            case .new:
                let restored = contents.restored
                contents.removeAll { restored.contains($0.id) }
            case .none:
                contents.epoch += 1
                contents.removeAll { _ in true }
            }
            if !contents.isRestored { contents.earlyRemovals.append { _ in true } }
            contents.restored = []
        }
    }

    /// Tells what the turn has removed, and saves what is left at once.
    func finishTurn() {
        deliverEvents()
        saveSoon(after: .zero)
    }
}

extension CookieJar.Contents {
    /// Whether the jar's cookies are those of `account`; nobody's request is anybody's.
    func holds(_ account: CookieJar.Account?) -> Bool {
        guard let account, let current = accounts[account.session] else { return true }
        return current == account.identity
    }

    fileprivate mutating func removeAll(where isUnwanted: (Cookie) -> Bool) {
        events += store.removeAll(where: isUnwanted).map(CookieEvent.removed)
    }
}

extension Cookie {
    /// Tells a cookie from others, whatever its value.
    struct ID: Hashable {
        let name: String
        let domain: String
        let isHostOnly: Bool
        let path: String
    }

    var id: ID { ID(name: name, domain: domain, isHostOnly: isHostOnly, path: path) }
}
