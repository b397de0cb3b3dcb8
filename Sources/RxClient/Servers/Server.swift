import FoundationEssentials
import RxHTTP

/// One server of a service, with its base URL read once.
final class Server: Sendable {
    /// As it was given.
    let baseURL: String
    /// The same without a slash at its end: what the URLs of its paths begin with.
    let stem: String
    /// The same where nothing in it has to be escaped, and paths can be appended.
    private let stemText: URLText?
    /// `nil` if the base URL is no absolute http or https URL.
    let origin: Origin?
    /// Whether paths can be appended: it has neither query nor fragment.
    let takesPaths: Bool
    /// What the client knows of the host, if it is one.
    let host: HostState?

    init(_ baseURL: String, in hosts: HostRegistry) {
        self.baseURL = baseURL
        stem = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        origin = URL(string: baseURL).flatMap { Origin($0) }
        takesPaths = !baseURL.contains { $0 == "?" || $0 == "#" }
        host = origin.map { hosts[$0] }
        stemText = origin != nil && takesPaths ? URLText(stem) : nil
    }

    /// The URL of a path below the base URL that begins with a slash and holds nothing to be escaped; `nil` for others.
    func plainURL(of path: String) -> URLText? {
        path.hasDotSegments ? nil : stemText?.appending(path)
    }

    /// What of `url` comes after the base URL, if it is below it.
    func path(of url: String) -> Substring? {
        guard origin != nil, takesPaths, url.utf8.starts(with: stem.utf8) else { return nil }
        let rest = Substring(url.utf8.dropFirst(stem.utf8.count))
        return rest.isEmpty || rest.first == "/" || rest.first == "?" || rest.first == "#" ? rest : nil
    }
}
