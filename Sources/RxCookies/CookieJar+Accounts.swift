import Synchronization

extension CookieJar {
    /// An account that cookies belong to: one of those that its owner, such as a session, has in turn.
    package struct Account {
        fileprivate let owner: UInt64
        fileprivate let identity: Int

        package init(_ identity: Int, of owner: UInt64) {
            self.owner = owner
            self.identity = identity
        }
    }

    /// What stays in the jar when another account takes its place.
    package enum Kept {
        case all
        /// What has been set in this process, and does not come from the storage: there was no account, and so it is no
        /// other's. Cookies that the login has set are among it.
        case new
        case none
    }

    /// Takes note of its owner's account. From now on requests of the owner's other accounts have no part in the jar.
    package func attach(_ account: Account) {
        contents.withLock { $0.accounts[account.owner] = account.identity }
    }

    /// Makes another account its owner's. Calls nobody, so that it can be done under the owner's lock; ``finishTurn()``
    /// is to follow.
    package func turn(to account: Account, keeping kept: Kept) {
        contents.withLock { contents in
            contents.accounts[account.owner] = account.identity
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
    package func finishTurn() {
        deliverEvents()
        saveSoon(after: .zero)
    }
}

extension CookieJar.Contents {
    /// Whether the jar's cookies are those of `account`; nobody's request is anybody's.
    func holds(_ account: CookieJar.Account?) -> Bool {
        guard let account, let current = accounts[account.owner] else { return true }
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
