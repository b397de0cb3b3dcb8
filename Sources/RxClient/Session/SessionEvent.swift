public import RxHTTP

/// What happens to a session.
public enum SessionEvent: Sendable {
    /// An account has been logged in: by ``Session/logIn(with:)``, or by the session's login where there was none before, or
    /// another one.
    case loggedIn
    /// The credential has been renewed, by the session's login.
    case renewed
    /// There is no account any more; the error says why, unless it was ``Session/logOut()``: the login was refused, or
    /// what the store had kept was none.
    case loggedOut(NetworkError?)
    /// The credential could not be saved. It is used all the same, and saved with the next change.
    case storageFailed(NetworkError)
}
