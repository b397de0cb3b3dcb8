public import FoundationEssentials
public import RxHTTP

/// An event of a ``CookieJar``.
public enum CookieEvent: Sendable {
    /// A cookie was set: a new cookie, a new value, or the same value again.
    case stored(Cookie)
    /// A cookie was removed: deleted by its server, removed by the app, expired, or evicted because of the
    /// limits.
    case removed(Cookie)
    /// A cookie from this URL was refused.
    case refused(CookieRefusal, from: URL)
    /// The storage could not be read or written, or its content was not a jar. The jar continues in memory.
    case storageFailed(NetworkError)
}

extension CookieEvent: RedactedDescription {
    /// One line without values and without the query of a URL.
    public var description: String {
        switch self {
        case .stored(let cookie): "stored \(cookie)"
        case .removed(let cookie): "removed \(cookie)"
        case .refused(let refusal, let url): "refused (\(refusal)) from \(url.absoluteString.withoutSecrets)"
        case .storageFailed(let error): "storage failed: \(error)"
        }
    }
}
