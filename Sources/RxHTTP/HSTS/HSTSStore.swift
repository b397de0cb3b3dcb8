public import FoundationEssentials
import HTTPTypes
public import RxLite
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
    struct Contents {
        var hosts = HSTSHosts()
        var isRestored: Bool
        /// Everything was removed before the file was read, so its hosts must not be restored.
        var isCleared = false
        /// The hosts that ended their policy before the file was read, and must not be restored.
        var forgotten: Set<String> = []
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

    /// The names of the stored hosts, sorted and in lower case. Expired ones stay until they are replaced;
    /// ``upgrade(_:at:)`` tells whether a URL, also one of a subdomain, requires TLS at a time.
    public var hosts: [String] { contents.withLock { $0.hosts.entries.keys.sorted() } }

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
        let isChanged = contents.withLock { contents in
            let isChanged = contents.hosts.record(policy, of: host, at: now)
            guard policy.maxAge == 0, !contents.isRestored else { return isChanged }
            guard contents.forgotten.count < HSTSHosts.limit else { return isChanged }
            return contents.forgotten.insert(host).inserted || isChanged
        }
        if isChanged { save() }
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

extension HSTSStore {
    // MARK: - Reading

    /// Reads the file, as the first request also does. One value, then the end.
    ///
    /// Fails if the file cannot be read; the file is then never overwritten, and the next call or request
    /// tries again. Until then the store contains only hosts learned since its creation. Malformed lines are
    /// skipped.
    public func restore() -> Observable<Void, NetworkError> {
        .deferred {
            self.contents.withLock { contents in
                guard !contents.isRestored, let file = self.file else { return .just(()) }
                if let running = contents.restoring { return running }
                let run = self.restore(file.path, on: file.files).share(replay: 1, reset: [])
                contents.restoring = run
                return run
            }
        }
    }

    /// Restores the store before a request; completes even if restoring fails, since the request is sent anyway.
    package var restored: Observable<Void, NetworkError> { restore().catch { _ in .just(()) } }

    package var isRestored: Bool { contents.withLock { $0.isRestored } }

    private func restore(_ path: String, on files: any FileSystem) -> Observable<Void, NetworkError> {
        files.contents(of: path, limit: HSTSFile.sizeLimit)
            .map { bytes in self.endRestoring(HSTSFile.entries(bytes ?? [])) }
            .catch { error in
                let ended = self.contents.withLock { $0.restoring.take() }
                // Released outside the lock.
                return withExtendedLifetime(ended) { .fail(error) }
            }
    }

    private func endRestoring(_ saved: [(host: String, entry: HSTSHosts.Entry)]) {
        let ended = contents.withLock { contents in
            if !contents.isCleared {
                for (host, entry) in saved where !contents.forgotten.contains(host) {
                    contents.hosts.restore(entry, for: host)
                }
            }
            contents.forgotten = []
            contents.isRestored = true
            return contents.restoring.take()
        }
        // Released outside the lock, since that may run other code.
        withExtendedLifetime(ended) {}
    }

    // MARK: - Writing

    /// Waits until all changes so far are in the file: one value, then the end. Fails if the file cannot be
    /// written; the next change or flush tries again.
    public func flush() -> Observable<Void, NetworkError> {
        .create { emitter in
            guard self.file != nil, self.saving.withLock({ $0.wait(emitter) }) else {
                emitter.send(())
                return emitter.finish()
            }
            self.write()
        }
    }

    /// Saves a change.
    func save() {
        guard file != nil else { return }
        saving.withLock { $0.recordChange(isUrgent: true) }
        write()
    }

    private func write() {
        guard let file, let change = saving.withLock({ $0.beginWriting() }) else { return }
        restored
            .flatMap { () throws(NetworkError) -> Observable<Void, NetworkError> in
                let entries = self.contents.withLock { $0.isRestored ? $0.hosts.entries : nil }
                guard let entries else {
                    throw NetworkError(
                        .file, "the HSTS file \(file.path) could not be read, so it is not overwritten")
                }
                // Writes begin where responses arrive, so the text is made elsewhere.
                return file.files.replace(file.path, making: { HSTSFile.bytes(entries) })
            }
            .subscribe(onNext: {}) { self.endWriting(change, $0) }
    }

    private func endWriting(_ change: Int, _ completion: Completion<NetworkError>) {
        let isSaved = if case .finished = completion { true } else { false }
        let (ready, isAwaited) = saving.withLock { saving in
            (saving.endWriting(change, isSaved: isSaved), saving.isAwaited)
        }
        for waiter in ready {
            if case .failed(let error) = completion {
                waiter.fail(error)
            } else {
                waiter.send(())
                waiter.finish()
            }
        }
        if isAwaited { write() }
    }
}

/// The text file of hosts in curl's format (`curl --hsts`, `CURLOPT_HSTS`): a line for each host with its
/// name, preceded by a dot if it includes subdomains, and its expiry in UTC.
///
///     # Your HSTS cache. https://curl.se/docs/hsts.html
///     .example.com "20271122 10:02:33"
enum HSTSFile {
    /// The largest file, in bytes: the most hosts, each with the longest name.
    static let sizeLimit = HSTSHosts.limit * lineLimit
    /// The longest line, in bytes; longer lines are skipped.
    static let lineLimit = 300

    static func bytes(_ entries: [String: HSTSHosts.Entry]) -> [UInt8] {
        var text = "# Your HSTS cache. https://curl.se/docs/hsts.html\n"
        for (host, entry) in entries.sorted(by: { $0.key < $1.key }) {
            text += "\(entry.includesSubdomains ? "." : "")\(host) \"\(self.text(of: entry.expires))\"\n"
        }
        return Array(text.utf8)
    }

    /// Skips comments and malformed lines, as curl does.
    static func entries(_ bytes: [UInt8]) -> [(host: String, entry: HSTSHosts.Entry)] {
        bytes.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.prefix(HSTSHosts.limit + 100)
            .compactMap { line in
                line.count <= lineLimit ? self.entry(String(decoding: line, as: UTF8.self)) : nil
            }
    }

    private static func entry(_ line: String) -> (String, HSTSHosts.Entry)? {
        let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard words.count == 2, let first = words[0].utf8.first, first != UInt8(ascii: "#") else {
            return nil
        }
        let includesSubdomains = first == UInt8(ascii: ".")
        let quoted = words[1].utf8
        guard let host = HSTSHosts.name(String(includesSubdomains ? words[0].dropFirst() : words[0])),
            quoted.count > 2, quoted.first == UInt8(ascii: "\""), quoted.last == UInt8(ascii: "\""),
            let expires = date(words[1].dropFirst().dropLast())
        else { return nil }
        return (
            host, .init(includesSubdomains: includesSubdomains, expires: expires, savedExpires: expires)
        )
    }

    // MARK: - Dates

    /// The last second of the year 9999.
    private static let latest = Date(timeIntervalSince1970: 253_402_300_799)

    /// `20271122 10:02:33`, or `unlimited` for a date that curl cannot represent.
    private static func date(_ text: Substring) -> Date? {
        if text == "unlimited" { return latest }
        let bytes = Array(text.utf8)
        guard bytes.count == 17, bytes[8] == UInt8(ascii: " "), bytes[11] == UInt8(ascii: ":"),
            bytes[14] == UInt8(ascii: ":"), let year = number(bytes[0..<4]), let month = number(bytes[4..<6]),
            let day = number(bytes[6..<8]), let hour = number(bytes[9..<11]),
            let minute = number(bytes[12..<14]), let second = number(bytes[15..<17])
        else { return nil }
        return Date(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        var number = 0
        for digit in digits {
            guard case 0...9 = digit &- UInt8(ascii: "0") else { return nil }
            number = number * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return number
    }

    private static func text(of date: Date) -> String {
        guard date < latest else { return "unlimited" }
        return date.formatted(
            .iso8601.year().month().day().dateSeparator(.omitted).dateTimeSeparator(.space)
                .time(includingFractionalSeconds: false).timeSeparator(.colon))
    }
}
