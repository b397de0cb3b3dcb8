/// Identifies the login whose credential a request carried.
public struct CredentialVersion: Hashable, Sendable {
    /// Counts the accounts that a session has served; logging out or switching accounts starts the next.
    public var identity: Int
    /// Counts the logins of the session, failed ones included.
    public var generation: Int

    /// Creates a version.
    public init(identity: Int, generation: Int) {
        self.identity = identity
        self.generation = generation
    }
}
