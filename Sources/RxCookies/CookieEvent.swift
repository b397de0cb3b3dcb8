public import FoundationEssentials
public import RxHTTP

/// An event of a ``CookieJar``.
public enum CookieEvent: Sendable {
    /// A cookie was set: it is new, has a new value, or the same once more.
    case stored(Cookie)
    /// A cookie is gone: taken back by its server, removed by the app, expired, or pushed out by the limits.
    case removed(Cookie)
    /// A cookie of the server at this URL was refused.
    case refused(CookieRefusal, from: URL)
    /// The storage could not be read or written, or what it held is no jar. The jar continues in memory.
    case storageFailed(NetworkError)
}

extension CookieEvent: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// One line without values and without the query of a URL.
    public var description: String {
        switch self {
        case .stored(let cookie): "stored \(cookie)"
        case .removed(let cookie): "removed \(cookie)"
        case .refused(let refusal, let url): "refused (\(refusal)) from \(url.absoluteString.withoutSecrets)"
        case .storageFailed(let error): "storage failed: \(error)"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Nothing, so that `dump` shows no more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
