public import FoundationEssentials
import HTTPTypes
import RxLite
import Synchronization

/// The hosts that have asked to be reached over TLS only (HTTP Strict Transport Security, RFC 6797).
///
/// ```swift
/// var connections = CurlTransport.Configuration()
/// connections.hsts = HSTSStore(file: "hsts.txt")
/// ```
///
/// A transport that has one learns from the `Strict-Transport-Security` field of responses that came over verified TLS.
/// From then on requests to such a host go to `https` where their URL, or that of a redirect, says `http`. A port of 80
/// becomes 443, others stay. Addresses in place of names are never among the hosts. Where TLS fails, so does the request:
/// nothing is sent without it.
///
/// A store with a file reads it before the first request goes out, and writes it soon after each change. Transports can
/// share a store. Two stores, or two processes, must not share a file: each would write over what the other saved. At
/// most 10,000 hosts are kept. Safe from any thread.
public final class HSTSStore: Sendable {
    /// A host that is to be reached over TLS only.
    public struct Host: Sendable, Hashable {
        /// The name, in lower case.
        public let name: String
        /// Whether the same holds for all hosts below it.
        public let includesSubdomains: Bool
        /// When it is forgotten.
        public let expires: Date
    }

    struct Contents {
        var hosts = HSTSHosts()
        var isRestored: Bool
        /// Everything was removed before the file was read, and must not come back with it.
        var isCleared = false
        var restoring: Observable<Void, NetworkError>?
    }

    let contents: Mutex<Contents>
    let saving = Mutex(WriteCoalescer())
    let file: (path: String, files: any FileSystem)?

    /// Creates a store that lasts as long as the process.
    public init() {
        contents = Mutex(Contents(isRestored: true))
        file = nil
    }

    /// Creates a store that is kept in a text file, which curl can read and write (`curl --hsts`). It is replaced as a
    /// whole at each save, with mode 0600; its folder must exist.
    ///
    /// - Parameters:
    ///   - path: the file; made by the first save.
    ///   - files: where the file is.
    public init(file path: String, on files: any FileSystem) {
        contents = Mutex(Contents(isRestored: false))
        file = (path, files)
    }

    /// The hosts by their names, those that have expired included until they are replaced.
    public var hosts: [Host] {
        contents.withLock { $0.hosts.entries }.sorted { $0.key < $1.key }.map { name, entry in
            Host(name: name, includesSubdomains: entry.includesSubdomains, expires: entry.expires)
        }
    }

    /// Forgets all hosts, and saves that at once.
    public func removeAll() {
        contents.withLock { contents in
            contents.hosts = HSTSHosts()
            if !contents.isRestored { contents.isCleared = true }
        }
        save()
    }

    /// Takes what a response says of its host. Only for transports, and only for a response that came over TLS with a
    /// server that was verified (§8.1).
    ///
    /// - Parameters:
    ///   - head: of several fields the first counts, and one that is malformed does not.
    ///   - url: the URL of the request; nothing is learnt if it is not https, or has an address for a host.
    ///   - now: the time of the response.
    public func learn(from head: ResponseHead, of url: URL, at now: Date) {
        guard head[.strictTransportSecurity] != nil, url.scheme?.lowercased() == "https",
            let host = Self.name(of: url),
            let value = head.headerFields[values: .strictTransportSecurity].first,
            let policy = HSTSPolicy(value)
        else { return }
        if contents.withLock({ $0.hosts.note(policy, of: host, at: now) }) { save() }
    }

    /// The https URL in place of `url`, if that is an http one and its host is among those that want TLS (§8.3).
    public func upgrade(_ url: URL, at now: Date) -> URL? {
        // Without a host nothing is looked up.
        guard url.scheme?.lowercased() == "http", let host = Self.name(of: url),
            contents.withLock({ $0.hosts.covers(host, at: now) })
        else { return nil }
        // The text is kept but for the scheme and the port.
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
