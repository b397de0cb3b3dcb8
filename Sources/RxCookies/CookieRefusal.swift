/// Why a ``CookieJar`` did not take a cookie.
public enum CookieRefusal: String, Error, Sendable {
    /// It holds a control character, or bytes that are not UTF-8.
    case invalidCharacter
    /// Neither a name nor a value.
    case empty
    /// Name and value together are larger than 4,096 bytes.
    case tooLarge
    /// The URL it comes from is no http or https URL.
    case invalidURL
    /// Its domain is not the host it comes from, nor one above it.
    case foreignDomain
    /// Its domain is one under which anybody can register, such as `co.uk`.
    case publicSuffix
    /// It is marked `Secure` and does not come over https.
    case insecureOrigin
    /// It does not come over https and would take the place of one that is marked `Secure`.
    case overwritesSecure
    /// Its name begins with `__Secure-` or `__Host-`, and it does not keep what that promises.
    case brokenPrefix
    /// No server could have set it: its path or its domain is none, or it is for the hosts below a public suffix or an
    /// address.
    case unsound
}
