/// The domains under which anybody can register a name, such as `com`, `co.uk` and `github.io`: a cookie for
/// such a whole domain would also be sent to strangers.
///
/// RxNetworking's `.system` is the Public Suffix List (https://publicsuffix.org) of libpsl.
public struct PublicSuffixes: Sendable {
    /// `nil` if nothing is known.
    let contains: (@Sendable (String) -> Bool)?

    /// Creates a list.
    ///
    /// - Parameter contains: whether a domain is a public suffix. Called with names in lower case and ASCII
    ///   (`xn--…`), from any thread, and under a lock, so it must only look the name up.
    public init(_ contains: @escaping @Sendable (_ domain: String) -> Bool) {
        self.contains = contains
    }

    private init() { contains = nil }

    /// No list. Every domain may then be a public suffix, so a cookie is sent only to the host that set it,
    /// regardless of its domain.
    public static let unknown = PublicSuffixes()
}
