#if Auth
import FoundationEssentials
import RxClient
import RxHTTP
import Synchronization

/// The demands of a protected resource beyond a valid token.
struct OAuthDemand: Sendable, Equatable {
    var scopes: [String]
    var authenticationClasses: [String]
    var maximumAge: Duration?

    init(_ challenge: OAuthChallenge) {
        scopes = challenge.error == "insufficient_scope" ? challenge.scopes : []
        let isAuthentication = challenge.error == "insufficient_user_authentication"
        authenticationClasses = isAuthentication ? challenge.authenticationClasses : []
        maximumAge = isAuthentication ? challenge.maximumAge : nil
    }

    /// The same demand has the same key.
    var key: String {
        let age = maximumAge.map { "\($0.components.seconds)" } ?? ""
        return [
            scopes.sorted().joined(separator: " "), authenticationClasses.sorted().joined(separator: " "),
            age,
        ]
        .joined(separator: "\n")
    }
}

/// The demands of a login: each is fulfilled once.
final class OAuthDemands: Sendable {
    /// Demands for one login.
    struct Taken: Sendable {
        /// All of them as one.
        let demand: OAuthDemand
        fileprivate let keys: Set<String>
        /// The scopes that no earlier login has asked for.
        fileprivate let newScopes: [String]
    }

    fileprivate struct State {
        /// The account whose demands these are.
        var accountNumber: Int?
        /// The generation of the credential for which a demand was made first, and when.
        var made: [String: (generation: Int, date: Date)] = [:]
        /// The demands that the next login asks for.
        var pending: Pending?
        /// The scopes that logins have asked for because of demands.
        var granted: [String] = []
        /// The scopes that challenges name.
        var learnt: [String]?
        /// The latest credential that a request has carried, in sessions whose generation is not known otherwise.
        var carried: (version: CredentialVersion, token: String)?
    }

    fileprivate struct Pending {
        var demand: OAuthDemand
        var keys: Set<String>
        /// The generation of the credential that was not enough.
        let generation: Int
        /// Its token; `nil` if there was none, or if it is not known.
        let token: String?
    }

    private let state = Mutex(State())

    /// The most different demands of an account.
    private static let limit = 64

    /// The scopes of former demands, which later logins ask for as well.
    var granted: [String] { state.withLock { $0.granted } }

    /// The scopes that a resource has named in its challenge.
    var learnt: [String]? { state.withLock { $0.learnt } }

    func learn(_ scopes: [String]?) {
        guard let scopes else { return }
        state.withLock { $0.learnt = scopes }
    }

    /// Notes the credential that a request carries.
    func note(_ credential: Credential, _ version: CredentialVersion?) {
        guard let version else { return }
        state.withLock { state in
            if let former = state.carried?.version {
                // Another request may have got a newer one meanwhile.
                let isOlder =
                    (version.accountNumber, version.generation) < (former.accountNumber, former.generation)
                guard !isOlder else { return }
            }
            state.carried = (version, credential.token)
        }
    }

    /// Whether a login may fulfil a demand, or has fulfilled it since the request was sent. Has the same result each time
    /// for the same failure.
    ///
    /// - Parameter version: the credential that the request carried.
    func admit(_ demand: OAuthDemand, _ version: CredentialVersion?, _ slot: SessionTransport) -> Bool {
        guard let version else { return false }
        let current = slot.generation
        let date = slot.transport?.scheduler.currentDate ?? Date()
        return state.withLock { state in
            if state.accountNumber != version.accountNumber {
                state = State(
                    accountNumber: version.accountNumber, learnt: state.learnt, carried: state.carried)
            }
            if let pending = state.pending, pending.generation < version.generation { state.drop(pending) }
            let first = state.made[demand.key].flatMap { demand.lasts(from: $0.date, at: date) ? $0 : nil }
            // A login was made for this demand; a later credential has been refused in spite of it.
            if let first, version.generation > first.generation { return false }
            let carried = state.carried.flatMap {
                $0.version.accountNumber == version.accountNumber ? $0 : nil
            }
            // A newer credential than the request's may be enough; the session sends the request again with that one.
            let latest = current ?? carried?.version.generation
            guard latest.map({ $0 == version.generation }) ?? true else { return true }
            if first == nil {
                guard state.made[demand.key] != nil || state.made.count < Self.limit else { return false }
                state.made[demand.key] = (version.generation, date)
            }
            if let pending = state.pending, pending.generation == version.generation {
                state.pending?.demand = pending.demand.joined(with: demand)
                state.pending?.keys.insert(demand.key)
            } else {
                let token = carried.flatMap { $0.version == version ? $0.token : nil }
                state.pending = Pending(
                    demand: demand, keys: [demand.key], generation: version.generation, token: token)
            }
            return true
        }
    }

    /// The demands for the next login, which are then no longer pending.
    ///
    /// - Parameter credential: the credential that the login replaces; `nil` if there is none.
    func takePending(for credential: Credential?, in slot: SessionTransport) -> Taken? {
        let current = slot.generation
        return state.withLock { state in
            guard let pending = state.pending else { return nil }
            let isCurrent =
                current.map { $0 == pending.generation }
                ?? (pending.token.map { $0 == credential?.token } ?? true)
            guard isCurrent else {
                // The credential that was not enough has been replaced since.
                state.drop(pending)
                return nil
            }
            state.pending = nil
            let former = Set(state.granted)
            let taken = Taken(
                demand: pending.demand, keys: pending.keys,
                newScopes: pending.demand.scopes.filter { !former.contains($0) })
            state.granted += taken.newScopes
            return taken
        }
    }

    /// Forgets that demands were made, because their login has failed for another reason than a refusal.
    func forget(_ taken: Taken) {
        state.withLock { state in
            for key in taken.keys { state.made[key] = nil }
            state.granted.removeAll { taken.newScopes.contains($0) }
        }
    }
}

extension OAuthDemands.State {
    /// Drops demands that no login was made for: the credential was replaced in another way.
    fileprivate mutating func drop(_ former: OAuthDemands.Pending) {
        for key in former.keys { made[key] = nil }
        pending = nil
    }
}

extension OAuthDemand {
    /// Whether a login for the demand still counts. What was granted stays granted, but an authentication ages, in five
    /// minutes at least, so that a resource that asks for less does not cause a login for each request.
    fileprivate func lasts(from start: Date, at date: Date) -> Bool {
        guard scopes.isEmpty else { return true }
        return date.timeIntervalSince(start) <= max(maximumAge ?? .zero, .seconds(300)) / .seconds(1)
    }

    fileprivate func joined(with other: OAuthDemand) -> OAuthDemand {
        var joined = self
        joined.scopes = OAuthScopes.union(scopes, other.scopes)
        joined.authenticationClasses = OAuthScopes.union(authenticationClasses, other.authenticationClasses)
        joined.maximumAge = [maximumAge, other.maximumAge].compactMap { $0 }.min()
        return joined
    }
}
#endif
