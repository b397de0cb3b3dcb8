public import RxHTTP

/// An event of a session.
public enum SessionEvent: Sendable {
    /// An account has been logged in: by ``Session/logIn(with:)``, or by the session's login if there was no
    /// account before, or another one.
    case loggedIn
    /// The session's login has renewed the credential, or another session that shares the store has.
    case renewed
    /// The account has been logged out. The error says why, unless ``Session/logOut()`` was called: the login
    /// was refused, the server refused the credential of a new login (``SecondRefusal/logOut``), or the stored
    /// credential could not be read.
    case loggedOut(NetworkError?)
    /// The credential could not be saved; it stays in use, and is saved with the next change. Or the store could not
    /// be read again before a renewal.
    case storageFailed(NetworkError)
}
