/// Knows the domains under which anybody can register a name, such as `com`, `co.uk` and `github.io`: a cookie
/// for all of one of them would be a cookie for strangers.
///
/// RxNetworking's `.system` is the Public Suffix List (https://publicsuffix.org) as libpsl has it.
public struct PublicSuffixes: Sendable {
    /// `nil` where nothing is known.
    let contains: (@Sendable (String) -> Bool)?

    /// Creates a list.
    ///
    /// - Parameter contains: whether a domain is a public suffix. Called with names in lower case and ASCII
    ///   (`xn--…`), from any thread, and under a lock: it must do nothing but look.
    public init(_ contains: @escaping @Sendable (_ domain: String) -> Bool) {
        self.contains = contains
    }

    private init() { contains = nil }

    /// No list. Every domain may be a public suffix then, so that a cookie goes back only to the host that set it,
    /// whatever its domain.
    public static let unknown = PublicSuffixes()
}
