public import FoundationEssentials
import HTTPTypes
import RxLite
import Synchronization

/// A store of hosts to reach over TLS only (HTTP Strict Transport Security, RFC 6797).
///
/// ```swift
/// var connections = CurlTransport.Configuration()
/// connections.hsts = HSTSStore(file: "hsts.txt")
/// ```
///
/// A transport with a store learns hosts from the `Strict-Transport-Security` field of responses over
/// verified TLS. From then on requests to such a host go to `https` if their URL, or the target of a
/// redirect, says `http`. Port 80 becomes 443; other ports stay. IP addresses are never stored. If TLS fails,
/// the request fails: nothing is sent without TLS.
///
/// A store with a file reads it before the first request is sent, and writes it soon after each change.
/// Several transports can share a store. Two stores, or two processes, must not share a file: each would
/// overwrite the changes of the other. A store holds at most 10,000 hosts. Thread-safe.
public final class HSTSStore: Sendable {
    /// A host to reach over TLS only.
    public struct Host: Sendable, Hashable {
        /// The name, in lower case.
        public let name: String
        /// Whether all subdomains are included.
        public let includesSubdomains: Bool
        /// When the entry expires.
        public let expires: Date
    }

    struct Contents {
        var hosts = HSTSHosts()
        var isRestored: Bool
        /// Everything was removed before the file was read, so its hosts must not be restored.
        var isCleared = false
        var restoring: Observable<Void, NetworkError>?
    }

    let contents: Mutex<Contents>
    let saving = Mutex(WriteCoalescer())
    let file: (path: String, files: any FileSystem)?

    /// Creates a store in memory, without a file.
    public init() {
        contents = Mutex(Contents(isRestored: true))
        file = nil
    }

    /// Creates a store in a text file, which curl can also read and write (`curl --hsts`). Each save replaces
    /// the whole file, with mode 0600; its folder must exist.
    ///
    /// - Parameters:
    ///   - path: the path of the file; the first save creates it.
    ///   - files: the file system of the file.
    public init(file path: String, on files: any FileSystem) {
        contents = Mutex(Contents(isRestored: false))
        file = (path, files)
    }

    /// The hosts sorted by name, including expired ones that have not been replaced yet.
    public var hosts: [Host] {
        contents.withLock { $0.hosts.entries }.sorted { $0.key < $1.key }.map { name, entry in
            Host(name: name, includesSubdomains: entry.includesSubdomains, expires: entry.expires)
        }
    }

    /// Removes all hosts and saves the change at once.
    public func removeAll() {
        contents.withLock { contents in
            contents.hosts = HSTSHosts()
            if !contents.isRestored { contents.isCleared = true }
        }
        save()
    }

    /// Learns the policy of a response's host. Only for transports, and only for a response over TLS from a
    /// verified server (§8.1).
    ///
    /// - Parameters:
    ///   - head: the head of the response. The first of several fields counts; a malformed field is ignored.
    ///   - url: the URL of the request. Nothing is learned unless it is an https URL with a host name.
    ///   - now: the time of the response.
    public func learn(from head: ResponseHead, of url: URL, at now: Date) {
        guard head[.strictTransportSecurity] != nil, url.scheme?.lowercased() == "https",
            let host = Self.name(of: url),
            let value = head.headerFields[values: .strictTransportSecurity].first,
            let policy = HSTSPolicy(value)
        else { return }
        if contents.withLock({ $0.hosts.note(policy, of: host, at: now) }) { save() }
    }

    /// The https URL that replaces `url`, if that is an http URL whose host requires TLS (§8.3).
    public func upgrade(_ url: URL, at now: Date) -> URL? {
        // A URL without a host needs no lookup.
        guard url.scheme?.lowercased() == "http", let host = Self.name(of: url),
            contents.withLock({ $0.hosts.covers(host, at: now) })
        else { return nil }
        // Only the scheme and the port of the text change.
        var text = "https" + url.absoluteString.dropFirst("http".count)
        if url.port == 80 {
            let start = text.index(text.startIndex, offsetBy: "https://".count, limitedBy: text.endIndex)
            let authority = text[(start ?? text.endIndex)...].prefix { !"/?#".contains($0) }
            if let colon = authority.lastIndex(of: ":") { text.removeSubrange(colon..<authority.endIndex) }
        }
        return URL(string: text)
    }

    private static func name(of url: URL) -> String? {
        url.host(percentEncoded: false).flatMap(HSTSHosts.name)
    }
}
