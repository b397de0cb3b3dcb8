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
    private struct State {
        /// The account whose demands these are.
        var identity: Int?
        /// The generation of the credential for which a demand was made first, and when.
        var made: [String: (generation: Int, date: Date)] = [:]
        /// The demands that the next login asks for, with the generation of the credential that they were made for.
        var pending: (demand: OAuthDemand, generation: Int)?
        /// The scopes that logins have asked for because of demands.
        var granted: [String] = []
        /// The scopes that challenges name.
        var learnt: [String]?
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

    /// Whether a login may fulfil a demand, or has fulfilled it since the request was sent. Has the same result each time
    /// for the same failure.
    ///
    /// - Parameter version: the credential that the request carried.
    func admit(_ demand: OAuthDemand, _ version: CredentialVersion?, _ slot: SessionTransport) -> Bool {
        guard let version else { return false }
        let current = slot.generation
        let date = slot.transport?.scheduler.currentDate ?? Date()
        return state.withLock { state in
            if state.identity != version.identity {
                state = State(identity: version.identity, learnt: state.learnt)
            }
            let first = state.made[demand.key]
            if let first, demand.lasts(from: first.date, at: date) {
                // A login was made for this demand; a later credential has been refused in spite of it.
                guard version.generation <= first.generation else { return false }
            } else {
                guard first != nil || state.made.count < Self.limit else { return false }
                state.made[demand.key] = (version.generation, date)
            }
            // A newer credential than the request's may be enough; the session sends the request again with that one.
            guard current.map({ $0 == version.generation }) ?? true else { return true }
            if let pending = state.pending, pending.generation == version.generation {
                state.pending?.demand = pending.demand.joined(with: demand)
            } else {
                state.pending = (demand, version.generation)
            }
            return true
        }
    }

    /// The demands for the next login, which are then no longer pending.
    func takePending(in slot: SessionTransport) -> OAuthDemand? {
        let current = slot.generation
        return state.withLock { state in
            guard let pending = state.pending else { return nil }
            state.pending = nil
            // The credential that was not enough has been replaced since.
            guard current.map({ $0 == pending.generation }) ?? true else { return nil }
            state.granted = OAuthScopes.union(state.granted, pending.demand.scopes)
            return pending.demand
        }
    }

    /// Forgets that a demand was made, because its login has failed for another reason than a refusal.
    func forget(_ demand: OAuthDemand) {
        state.withLock { state in
            state.made = [:]
            state.granted.removeAll { demand.scopes.contains($0) }
        }
    }
}

extension OAuthDemand {
    /// Whether a login for the demand still counts. What was granted stays granted, but an authentication ages.
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
