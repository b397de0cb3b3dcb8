/// The consequence of a second refusal: the server does not accept the credential that a new login has just got for a
/// request either.
public enum SecondRefusal: Sendable, Hashable {
    /// The request fails with the refusal. A later request may log in again, within the ``LoginLimit``.
    case fail
    /// The request fails with the refusal, and the session logs out: it removes the credential and sends
    /// ``SessionEvent/loggedOut(_:)`` with the refusal. There is no further login until ``Session/logIn(with:)``.
    case logOut
}

/// The limit of unsuccessful logins of a ``Session``. A request that succeeds with a login's credential
/// resets the count.
public struct LoginLimit: Sendable, Hashable {
    /// The number of logins within ``window``; after that, requests fail with `loginExpired`.
    public var count: Int
    /// The length of time in which logins count.
    public var window: Duration

    /// Creates a limit. Default five logins within 30 seconds.
    public init(_ count: Int = 5, within window: Duration = .seconds(30)) {
        self.count = count
        self.window = window
    }
}
