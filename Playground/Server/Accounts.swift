import FlyingFox
import Synchronization

/// The body of `POST /login`.
struct Login: Decodable {
    var user: String
    var password: String
}

/// The users who can log in, and their tokens.
final class Accounts: Sendable {
    private struct Token {
        var user: String
        var usesLeft: Int
    }

    private struct State {
        var tokens: [String: Token] = [:]
        var issued = 0
        var usesOfNewTokens = Int.max
    }

    private let state = Mutex(State())

    func token(for login: Login) throws(Refusal) -> String {
        try check(login)
        return issue(to: login.user)
    }

    /// Throws unless the password is that of the user.
    func check(_ login: Login) throws(Refusal) {
        guard login.user == "ada", login.password == "tea" else {
            throw Refusal(errcode: 11001, msg: "wrong user or password", status: .unauthorized)
        }
    }

    /// A new token for a user.
    func issue(to user: String) -> String {
        state.withLock { state in
            state.issued += 1
            let token = "token-\(state.issued)"
            state.tokens[token] = Token(user: user, usesLeft: state.usesOfNewTokens)
            return token
        }
    }

    /// The user of the valid token in the field; counts as one use of the token.
    func user(authorization: String?) -> String? {
        guard let words = authorization?.split(separator: " "), words.count == 2,
            words[0].lowercased() == "bearer"
        else { return nil }
        let name = String(words[1])
        return state.withLock { state in
            guard let token = state.tokens[name], token.usesLeft > 0 else { return nil }
            state.tokens[name]?.usesLeft -= 1
            return token.user
        }
    }

    /// Forgets the token in the field.
    func logOut(authorization: String?) {
        guard let token = authorization?.split(separator: " ").last else { return }
        forget(String(token))
    }

    func forget(_ token: String) { state.withLock { $0.tokens[token] = nil } }

    /// Forgets all tokens. Tokens issued from now on are valid for `uses` requests.
    func expire(usesFromNowOn uses: Int) {
        state.withLock { state in
            state.tokens = [:]
            state.usesOfNewTokens = uses
        }
    }
}
