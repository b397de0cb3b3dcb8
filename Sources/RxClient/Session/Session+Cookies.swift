import RxCookies
import RxHTTP
import RxLite
import Synchronization

/// A jar that is kept alive by its clients, not by the session.
struct WeakCookieJar {
    weak let jar: CookieJar?
}

extension Session {
    /// Registers a client that uses the session: its clock, and the jar with the account's cookies.
    func attach(_ jar: CookieJar?, on scheduler: any Scheduler) {
        clock.adopt(scheduler)
        guard let jar else { return }
        contents.withLock { contents in
            contents.jars.removeAll { $0.jar == nil || $0.jar === jar }
            contents.jars.append(WeakCookieJar(jar: jar))
            jar.attach(CookieJar.Account(contents.state.identity, of: seed))
        }
    }
}

extension Session.Contents {
    /// Switches the jars to another account, in the same step as the session, so that no request is sent as
    /// one account with the cookies of another. The caller must then notify the jars outside the lock, with
    /// ``CookieJar/finishTurn()``.
    func turnJars(from former: Credential?, to credential: Credential?, _ seed: UInt64) -> [CookieJar] {
        let jars = jars.compactMap(\.jar)
        let isSame = former?.account != nil && former?.account == credential?.account
        let kept: CookieJar.Kept =
            if isSame {
                .all
            } else if former == nil && credential != nil {
                .new
            } else {
                .none
            }
        let account = CookieJar.Account(state.identity, of: seed)
        for jar in jars { jar.turn(to: account, keeping: kept) }
        return jars
    }
}
