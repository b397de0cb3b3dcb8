import Synchronization

extension CookieJar {
    /// An account that cookies belong to. The owner of a jar, such as a session, has one account at a time.
    package struct Account {
        fileprivate let owner: UInt64
        fileprivate let identity: Int

        package init(_ identity: Int, of owner: UInt64) {
            self.owner = owner
            self.identity = identity
        }
    }

    /// The cookies that stay in the jar when another account replaces the current one.
    package enum Kept {
        case all
        /// The cookies that were set in this process and do not come from the storage. There was no account
        /// then, so they belong to no other account. They include the cookies of the login.
        case new
        case none
    }

    /// Sets the current account of its owner. From now on, requests of the owner's other accounts do not use
    /// the jar.
    package func attach(_ account: Account) {
        contents.withLock { $0.accounts[account.owner] = account.identity }
    }

    /// Switches the owner to another account. Calls no other code, so it can run under the owner's lock;
    /// ``finishTurn()`` must follow.
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

    /// Delivers the events of the switch, and saves the remaining cookies immediately.
    package func finishTurn() {
        deliverEvents()
        saveSoon(after: .zero)
    }
}

extension CookieJar.Contents {
    /// Whether the jar's cookies belong to `account`; always true for a request without an account.
    func holds(_ account: CookieJar.Account?) -> Bool {
        guard let account, let current = accounts[account.owner] else { return true }
        return current == account.identity
    }

    fileprivate mutating func removeAll(where isUnwanted: (Cookie) -> Bool) {
        events += store.removeAll(where: isUnwanted).map(CookieEvent.removed)
    }
}

extension Cookie {
    /// Identifies a cookie, regardless of its value.
    struct ID: Hashable {
        let name: String
        let domain: String
        let isHostOnly: Bool
        let path: String
    }

    var id: ID { ID(name: name, domain: domain, isHostOnly: isHostOnly, path: path) }
}
