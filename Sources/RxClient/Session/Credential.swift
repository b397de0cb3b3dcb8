public import FoundationEssentials
import HTTPTypes
public import RxHTTP
import RxParameters

/// The proof of identity in requests: a token, and its expiry.
public struct Credential: Sendable, Hashable, Codable {
    // `CredentialFile`, and `CredentialRecord` of RxFleet, store it as JSON with the names of these
    // properties: rename none, and add only optional ones.

    /// The token that requests carry.
    public var token: String
    /// The token for requesting a new one, if the server provides one.
    public var refreshToken: String?
    /// The expiry of the token, if known. The session renews it ahead of that time.
    public var expires: Date?
    /// A name of the account that is the same after each login, and unique. With it, the next process finds
    /// the account's stored responses again.
    public var account: String?
    /// The server that has issued the tokens, if there may be several: the refresh token is sent to no other.
    public var issuer: String?

    /// Creates a credential.
    public init(
        token: String, refreshToken: String? = nil, expires: Date? = nil, account: String? = nil,
        issuer: String? = nil
    ) {
        self.token = token
        self.refreshToken = refreshToken
        self.expires = expires
        self.account = account
        self.issuer = issuer
    }

    /// This credential, with the account's name of a former one of the same issuer if it has none itself: a login or a
    /// renewal rarely repeats the name, but the next process needs it.
    func keepingAccount(of former: Credential?) -> Credential {
        var credential = self
        if issuer == former?.issuer { credential.account = account ?? former?.account }
        return credential
    }

    /// This credential after a renewal of a former one. Without a new refresh token the previous one stays valid (RFC 6749
    /// §6), unless another server has issued this credential: it must never see that token (RFC 9700 §4.4).
    func renewing(_ former: Credential) -> Credential {
        var credential = keepingAccount(of: former)
        if issuer == former.issuer { credential.refreshToken = refreshToken ?? former.refreshToken }
        return credential
    }
}

extension Credential: RedactedDescription {
    /// A text without the tokens.
    public var description: String { "Credential(hidden)" }
}

// MARK: - The place in a request

/// The place of a credential in a request.
public struct CredentialPlacement: Sendable {
    let place: @Sendable (Credential, inout Request) throws(NetworkError) -> Void

    /// Places the credential by a rule. Everything that the rule adds is as secret as `Authorization`: hidden
    /// wherever the request is shown, and withheld from other origins. A rule that changes the origin fails
    /// with `invalidURL`.
    public init(_ place: @escaping @Sendable (Credential, inout Request) throws(NetworkError) -> Void) {
        self.place = { credential, request throws(NetworkError) in
            try request.addSecrets { request throws(NetworkError) in try place(credential, &request) }
        }
    }

    /// Places the credential where it is secret anyway, or by a rule that marks it as secret itself.
    private init(
        unrecorded place: @escaping @Sendable (Credential, inout Request) throws(NetworkError) -> Void
    ) {
        self.place = place
    }

    /// `Authorization: Bearer <token>` (RFC 6750 §2.1).
    public static let bearer = CredentialPlacement(unrecorded: { credential, request throws(NetworkError) in
        try request.setField(.authorization, to: "Bearer " + credential.token)
    })

    /// A header field with this name, as secret as `Authorization`.
    public static func header(_ name: String) -> CredentialPlacement {
        CredentialPlacement(unrecorded: { credential, request throws(NetworkError) in
            try request.setField(name, to: credential.token)
            if let name = HTTPField.Name(name) { request.secretFields.insert(name) }
        })
    }

    /// A secret parameter in the URL's query, which replaces parameters of the same name.
    public static func query(_ name: String) -> CredentialPlacement {
        CredentialPlacement({ credential, request throws(NetworkError) in
            try request.setQuery(name, to: credential.token)
        })
    }

    /// A secret parameter, which replaces parameters of the same name: in the body if that is a form
    /// (`application/x-www-form-urlencoded`), otherwise in the URL's query.
    public static func parameter(_ name: String) -> CredentialPlacement {
        CredentialPlacement({ credential, request throws(NetworkError) in
            guard request.setFormMember(name, to: credential.token) else {
                return try request.setQuery(name, to: credential.token)
            }
        })
    }

    /// A secret cookie, before the cookies of a jar; it replaces cookies of the same name.
    ///
    /// A token with characters that a cookie cannot contain (RFC 6265 §4.1.1), such as a semicolon, fails
    /// with `invalidHeader`.
    public static func cookie(_ name: String) -> CredentialPlacement {
        CredentialPlacement(unrecorded: { credential, request throws(NetworkError) in
            guard HTTPField.Name(name) != nil, credential.token.utf8.allSatisfy(\.isCookieOctet) else {
                throw NetworkError(
                    .invalidHeader, "the credential is not valid as the cookie \(name.debugDescription)",
                    request: request)
            }
            let others = request.headerFields[values: .cookie].flatMap { $0.parts(at: ";") }
                .map { $0.trimmingBlanks() }.filter { $0.cut(at: "=").before.trimmingBlanks() != name }
            let pairs = ["\(name)=\(credential.token)"] + others.map(String.init)
            request.headerFields[.cookie] = pairs.joined(separator: "; ")
        })
    }
}

extension Request {
    fileprivate mutating func setQuery(_ name: String, to value: String) throws(NetworkError) {
        removeQuery(named: name)
        try appendQuery("\(name.percentEncoded)=\(value.percentEncoded)")
    }

    /// Returns `false` if the body is not a form.
    fileprivate mutating func setFormMember(_ name: String, to value: String) -> Bool {
        let type = MediaType(headerFields[.contentType]).name
        guard case .bytes(let bytes) = body, type == "application/x-www-form-urlencoded" else { return false }
        let pairs = String(decoding: bytes, as: UTF8.self).parts(at: "&")
        let others = pairs.filter { pair in
            let written = pair.cut(at: "=").before
            return written != name.formEncoded && written != name.percentEncoded
        }
        let all = others.map(String.init) + ["\(name.formEncoded)=\(value.formEncoded)"]
        body = .text(all.joined(separator: "&"))
        return true
    }
}

extension UInt8 {
    /// Whether a cookie value may contain this byte (RFC 6265 §4.1.1).
    fileprivate var isCookieOctet: Bool {
        switch self {
        case 0x21, 0x23...0x2B, 0x2D...0x3A, 0x3C...0x5B, 0x5D...0x7E: true
        default: false
        }
    }
}
