import HTTPTypes
public import RxHTTP

/// Where a credential goes in a request.
public struct CredentialPlacement: Sendable {
    let place: @Sendable (Credential, inout Request) throws(NetworkError) -> Void

    /// Places it by a rule.
    public init(_ place: @escaping @Sendable (Credential, inout Request) throws(NetworkError) -> Void) {
        self.place = place
    }

    /// `Authorization: Bearer <token>` (RFC 6750 §2.1).
    public static let bearer = CredentialPlacement { credential, request throws(NetworkError) in
        try request.setField("Authorization", to: "Bearer \(credential.token)")
    }

    /// A header field of its own, kept as secret as `Authorization`.
    public static func header(_ name: String) -> CredentialPlacement {
        CredentialPlacement { credential, request throws(NetworkError) in
            try request.setField(name, to: credential.token)
            if let name = HTTPField.Name(name) { request.secretFields.insert(name) }
        }
    }

    /// A parameter in the URL's query, in the place of any of that name, kept as secret.
    public static func query(_ name: String) -> CredentialPlacement {
        CredentialPlacement { credential, request throws(NetworkError) in
            request.removeQuery(named: name)
            request.secretParameters.insert(name)
            try request.appendQuery("\(name.percentEncoded)=\(credential.token.percentEncoded)")
        }
    }
}
