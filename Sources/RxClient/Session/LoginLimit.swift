/// How many logins a ``Session`` tries that do not help. A request that succeeds with what a login gave clears the count.
public struct LoginLimit: Sendable, Hashable {
    /// So many logins within ``window``; further requests fail with `loginExpired`.
    public var count: Int
    /// The time that is looked back.
    public var window: Duration

    /// Creates a limit. Default five logins within 30 seconds.
    public init(_ count: Int = 5, within window: Duration = .seconds(30)) {
        self.count = count
        self.window = window
    }
}
