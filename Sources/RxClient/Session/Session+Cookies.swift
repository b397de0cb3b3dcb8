import RxCookies
import RxHTTP
import RxLite
import Synchronization

/// A jar that lives as long as its clients do.
struct WeakCookieJar {
    weak let jar: CookieJar?
}

extension Session {
    /// Takes note of a client that has the session: of its time, and of the jar that holds the account's cookies.
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
    /// Hands the jars over to another account, in the same step as the session: no request is sent as one with the cookies
    /// of the other. The jars have to be told of it outside the lock, by ``CookieJar/finishTurn()``.
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
