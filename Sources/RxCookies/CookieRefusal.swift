/// The reason why a ``CookieJar`` refused a cookie.
public enum CookieRefusal: String, Error, Sendable {
    /// The cookie contains a control character, or bytes that are not UTF-8.
    case invalidCharacter
    /// The cookie has neither a name nor a value.
    case empty
    /// Name and value together are larger than 4,096 bytes.
    case tooLarge
    /// The URL of the cookie is not an http or https URL.
    case invalidURL
    /// The domain of the cookie is neither the host that set it nor one of its parent domains.
    case foreignDomain
    /// The domain of the cookie is one under which anybody can register, such as `co.uk`.
    case publicSuffix
    /// The cookie is marked `Secure`, but was not received over https.
    case insecureOrigin
    /// The cookie was not received over https and would replace one that is marked `Secure`.
    case overwritesSecure
    /// The name of the cookie begins with `__Secure-` or `__Host-`, but the cookie does not meet the
    /// conditions of the prefix.
    case brokenPrefix
    /// No server could have set the cookie: its path or its domain is invalid, or it is for the subdomains of
    /// a public suffix or of an address.
    case unsound
}
