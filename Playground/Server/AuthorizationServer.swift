import Foundation
import Synchronization

/// The authorization server of the shop: logins by device codes (RFC 8628), and refresh tokens that are used once: the
/// second use of one ends the whole login (RFC 9700 §4.14.2). Its only client is `tour`, which has no secret.
final class AuthorizationServer: Sendable {
    /// A login that waits for its user.
    private struct Device {
        let userCode: String
        let expires: TimeInterval
        var interval: TimeInterval
        var lastPoll: TimeInterval?
        var answer: Answer?
    }

    private enum Answer {
        case allowed(user: String)
        case denied
    }

    /// The tokens of one login.
    private struct Family {
        let user: String
        var accessToken: String
    }

    private struct State {
        var devices: [String: Device] = [:]
        var families: [Int: Family] = [:]
        var familyCount = 0
        /// The family of each refresh token, also of used ones, and whether it has been used.
        var refreshTokens: [String: (family: Int, isUsed: Bool)] = [:]
    }

    private let accounts: Accounts
    private let now: @Sendable () -> TimeInterval
    private let state = Mutex(State())

    /// How long a device code is valid, in seconds.
    static let codeLife = 600.0
    /// The first interval of a device's requests, and what `slow_down` adds (RFC 8628 §3.5), in seconds.
    static let interval = (first: 1.0, step: 5.0)
    /// How long an access token is valid according to its response, in seconds.
    static let tokenLife = 3600
    /// The most logins that wait.
    private static let limit = 1000

    /// - Parameters:
    ///   - accounts: the users, and the access tokens.
    ///   - now: the seconds since any fixed time. Default: those of the system's clock.
    init(
        accounts: Accounts, now: @escaping @Sendable () -> TimeInterval = { Date().timeIntervalSince1970 }
    ) {
        self.accounts = accounts
        self.now = now
    }

    /// The metadata of the server (RFC 8414).
    func metadata(issuer: String) -> Metadata { Metadata(issuer: issuer) }

    // MARK: - Device codes

    /// Begins a login (RFC 8628 §3.1).
    func authorize(_ form: Form, issuer: String) throws(TokenRefusal) -> DeviceAuthorization {
        try check(form)
        let (code, userCode, now) = (Self.secret(), Self.userCode(), now())
        try state.withLock { (state) throws(TokenRefusal) in
            state.devices = state.devices.filter { $0.value.expires > now }
            guard state.devices.count < Self.limit else { throw .unavailable }
            state.devices[code] = Device(
                userCode: userCode, expires: now + Self.codeLife, interval: Self.interval.first)
        }
        let url = issuer + "/device"
        return DeviceAuthorization(
            deviceCode: code, userCode: userCode, verificationUri: url,
            verificationUriComplete: url + "?user_code=" + userCode, expiresIn: Int(Self.codeLife),
            interval: Int(Self.interval.first))
    }

    /// The answer of a user, with name and password, to the code in the form.
    func answer(_ form: Form) throws(Refusal) {
        guard let user = form["user"], let password = form["password"], let text = form["user_code"] else {
            throw .invalid("user, password and user_code are required")
        }
        try accounts.check(Login(user: user, password: password))
        // People write codes in small letters and without the hyphen.
        let code = Self.significant(text)
        let now = now()
        let isKnown = state.withLock { state in
            guard
                let key = state.devices.first(where: {
                    Self.significant($0.value.userCode) == code && $0.value.expires > now
                        && $0.value.answer == nil
                })?.key
            else { return false }
            state.devices[key]?.answer = form["answer"] == "allow" ? .allowed(user: user) : .denied
            return true
        }
        guard isKnown else { throw .notFound("no login waits for this code") }
    }

    // MARK: - Tokens

    /// The tokens for a device code or a refresh token (RFC 6749 §5).
    func tokens(_ form: Form) throws(TokenRefusal) -> Tokens {
        try check(form)
        switch form["grant_type"] {
        case "urn:ietf:params:oauth:grant-type:device_code": return try tokens(device: form["device_code"])
        case "refresh_token": return try tokens(refreshing: form["refresh_token"])
        default: throw TokenRefusal("unsupported_grant_type", "device codes and refresh tokens only")
        }
    }

    private func tokens(device code: String?) throws(TokenRefusal) -> Tokens {
        let now = now()
        let user = try state.withLock { (state) throws(TokenRefusal) in
            guard let code, let device = state.devices[code] else {
                throw TokenRefusal("invalid_grant", "unknown device code, or one that has been used")
            }
            guard now < device.expires else {
                throw TokenRefusal("expired_token", "nobody has answered in time")
            }
            if let last = device.lastPoll, now - last < device.interval {
                state.devices[code]?.interval += Self.interval.step
                state.devices[code]?.lastPoll = now
                throw TokenRefusal("slow_down", "ask every \(Int(device.interval + Self.interval.step)) s")
            }
            state.devices[code]?.lastPoll = now
            switch device.answer {
            case nil: throw TokenRefusal("authorization_pending", "the user has not answered")
            case .denied: throw TokenRefusal("access_denied", "the user has denied the login")
            case .allowed(let user):
                state.devices[code] = nil
                return user
            }
        }
        return state.withLock { state in
            state.familyCount += 1
            return issue(user: user, family: state.familyCount, &state)
        }
    }

    private func tokens(refreshing token: String?) throws(TokenRefusal) -> Tokens {
        try state.withLock { (state) throws(TokenRefusal) in
            guard let token, let found = state.refreshTokens[token], let family = state.families[found.family]
            else { throw TokenRefusal("invalid_grant", "unknown refresh token, or its login has ended") }
            accounts.forget(family.accessToken)
            guard !found.isUsed else {
                // Either the client or a thief has used it before, and nobody knows which of them this is.
                state.families[found.family] = nil
                throw TokenRefusal(
                    "invalid_grant", "the refresh token has been used before; its login has ended")
            }
            state.refreshTokens[token] = (found.family, true)
            return issue(user: family.user, family: found.family, &state)
        }
    }

    private func issue(user: String, family: Int, _ state: inout State) -> Tokens {
        let tokens = Tokens(accessToken: accounts.issue(to: user), refreshToken: Self.secret())
        state.families[family] = Family(user: user, accessToken: tokens.accessToken)
        state.refreshTokens[tokens.refreshToken] = (family, false)
        return tokens
    }

    private func check(_ form: Form) throws(TokenRefusal) {
        guard form["client_id"] == "tour" else {
            throw TokenRefusal("invalid_client", "the only client is tour", status: 401)
        }
    }

    // MARK: - Codes

    /// A code that nobody can guess.
    private static func secret() -> String {
        (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
    }

    /// Eight letters without vowels, so that they form no words (RFC 8628 §6.1).
    private static func userCode() -> String {
        let letters = (0..<8).map { _ in "BCDFGHJKLMNPQRSTVWXZ".randomElement() ?? "B" }
        return String(letters[..<4]) + "-" + String(letters[4...])
    }

    private static func significant(_ code: String) -> String { code.uppercased().filter(\.isLetter) }
}

extension AuthorizationServer {
    /// The members of the metadata, in the spelling of RFC 8414.
    struct Metadata: Encodable {
        let issuer: String
        let tokenEndpoint: String
        let deviceAuthorizationEndpoint: String
        let grantTypesSupported = ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"]
        let responseTypesSupported: [String] = []
        let tokenEndpointAuthMethodsSupported = ["none"]

        init(issuer: String) {
            self.issuer = issuer
            tokenEndpoint = issuer + "/oauth/token"
            deviceAuthorizationEndpoint = issuer + "/oauth/device"
        }

        private enum CodingKeys: String, CodingKey {
            case issuer
            case tokenEndpoint = "token_endpoint"
            case deviceAuthorizationEndpoint = "device_authorization_endpoint"
            case grantTypesSupported = "grant_types_supported"
            case responseTypesSupported = "response_types_supported"
            case tokenEndpointAuthMethodsSupported = "token_endpoint_auth_methods_supported"
        }
    }

    /// The response of the device authorization endpoint (RFC 8628 §3.2).
    struct DeviceAuthorization: Encodable {
        let deviceCode: String
        let userCode: String
        let verificationUri: String
        let verificationUriComplete: String
        let expiresIn: Int
        let interval: Int

        private enum CodingKeys: String, CodingKey {
            case interval
            case deviceCode = "device_code"
            case userCode = "user_code"
            case verificationUri = "verification_uri"
            case verificationUriComplete = "verification_uri_complete"
            case expiresIn = "expires_in"
        }
    }

    /// The response of the token endpoint (RFC 6749 §5.1).
    struct Tokens: Encodable {
        let accessToken: String
        let tokenType = "Bearer"
        let expiresIn = AuthorizationServer.tokenLife
        let refreshToken: String

        private enum CodingKeys: String, CodingKey {
            case accessToken = "access_token"
            case tokenType = "token_type"
            case expiresIn = "expires_in"
            case refreshToken = "refresh_token"
        }
    }
}

/// An error of the token endpoint (RFC 6749 §5.2).
struct TokenRefusal: Error, Encodable {
    let error: String
    let errorDescription: String
    /// The HTTP status, which is not part of the document.
    let status: Int

    init(_ error: String, _ description: String, status: Int = 400) {
        self.error = error
        errorDescription = description
        self.status = status
    }

    static let unavailable = TokenRefusal(
        "temporarily_unavailable", "too many logins wait", status: 503)

    private enum CodingKeys: String, CodingKey {
        case error
        case errorDescription = "error_description"
    }
}

/// The fields of a form of the type `application/x-www-form-urlencoded`.
struct Form: Sendable {
    private var fields: [String: String] = [:]

    /// Reads a form; fields that are malformed are left out.
    init(_ text: String) {
        for pair in text.split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let decoded = sides.map { $0.replacing("+", with: " ").removingPercentEncoding }
            guard let name = decoded[0], let value = decoded.count > 1 ? decoded[1] : "" else { continue }
            fields[name] = value
        }
    }

    subscript(name: String) -> String? { fields[name] }
}
