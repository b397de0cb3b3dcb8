public import RxHTTP

/// What happens to a session.
public enum SessionEvent: Sendable {
    /// An account has been logged in, by ``Session/logIn(with:)``.
    case loggedIn
    /// The credential has been renewed, by the session's login.
    case renewed
    /// There is no account any more; the error says why, unless it was ``Session/logOut()``.
    case loggedOut(NetworkError?)
}
