import FoundationEssentials
import RxHTTP

/// The alternative services of origins, and the failures of connections to them. Times are in seconds since
/// 1970.
struct AlternativeTable {
    /// A host and a port that are reached over TLS.
    struct HTTPSOrigin: Hashable {
        /// In lower case, IPv6 addresses without brackets.
        let host: String
        let port: Int

        init(host: String, port: Int) {
            self.host = host
            self.port = port
        }

        /// An https origin; `nil` for other origins.
        init?(_ origin: Origin) {
            guard origin.scheme == "https" else { return nil }
            var host = origin.host
            if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
            self.init(host: host, port: origin.port)
        }
    }

    /// The alternatives that an origin has advertised.
    struct Entry: Equatable {
        /// The ALPN name of the protocol of the response that advertised them.
        var source: String
        /// With the origin's host where the alternative had none.
        var services: [AlternativeService]
        /// When the service at the same index of ``services`` expires.
        var ends: [Int]
        /// ``ends`` as last saved.
        var savedEnds: [Int]

        /// Whether the saved entry is good enough for `new`: the same services, with expiry times that have
        /// moved by at most a tenth of their lifetime. Servers advertise the same services with each
        /// response.
        func isSaved(_ new: Entry, at now: Int) -> Bool {
            services.elementsEqual(new.services) { $0.isSame(as: $1) }
                && zip(savedEnds, new.ends).allSatisfy { saved, end in abs(end - saved) * 10 <= end - now }
        }
    }

    /// An alternative that could not be reached.
    private struct Failure {
        var count = 0
        var start = 0
        var end = 0
    }

    private(set) var entries: [HTTPSOrigin: Entry] = [:]
    private var failures: [HTTPSOrigin: Failure] = [:]

    /// The maximum number of origins.
    static let limit = 1024
    /// How long an alternative is not used after a failure, in seconds; doubled after each further failure, as the
    /// documentation of ``CurlTransport/HTTPVersion/http3`` says.
    static let firstDelay = 5 * 60
    static let longestDelay = 2 * 24 * 3600

    /// Replaces the alternatives of `origin` with those of a response.
    ///
    /// - Parameters:
    ///   - source: the ALPN name of the protocol of the response.
    ///   - age: the age of the response, in seconds (RFC 7838 §3.1).
    /// - Returns: whether the change should be saved: more than an expiry that moves with each response.
    mutating func take(
        _ field: AlternativeServiceField, from origin: HTTPSOrigin, over source: String, age: Int = 0,
        at now: Int
    ) -> Bool {
        let old = entries[origin]
        guard case .services(let found) = field else {
            failures[origin] = nil
            entries[origin] = nil
            return old != nil
        }
        let services = found.filter { $0.maxAge > age }.map { service in
            var service = service
            if service.host.isEmpty { service.host = origin.host }
            return service
        }
        guard !services.isEmpty else {
            entries[origin] = nil
            return old != nil
        }
        let ends = services.map { now + $0.maxAge - age }
        var entry = Entry(source: source, services: services, ends: ends, savedEnds: ends)
        let isSaved = old?.isSaved(entry, at: now) ?? false
        if isSaved, let old { entry.savedEnds = old.savedEnds }
        insert(entry, for: origin, at: now)
        return !isSaved
    }

    /// Forgets that `origin` serves HTTP/3 at the same host and port, because a request was misdirected there
    /// (RFC 7838 §6).
    ///
    /// - Returns: whether the change should be saved.
    mutating func forgetHTTP3(_ origin: HTTPSOrigin) -> Bool {
        guard let old = entries[origin] else { return false }
        let kept = old.services.indices.filter { !Self.isHTTP3(old.services[$0], at: origin) }
        guard kept.count < old.services.count else { return false }
        let entry = Entry(
            source: old.source, services: kept.map { old.services[$0] }, ends: kept.map { old.ends[$0] },
            savedEnds: kept.map { old.savedEnds[$0] })
        entries[origin] = kept.isEmpty ? nil : entry
        return true
    }

    private static func isHTTP3(_ service: AlternativeService, at origin: HTTPSOrigin) -> Bool {
        service.protocolID == "h3" && service.host == origin.host && service.port == origin.port
    }

    /// Adds a saved entry. Entries that are already known are newer.
    mutating func add(_ entry: Entry, for origin: HTTPSOrigin, at now: Int) {
        if entries[origin] == nil, entries.count < Self.limit { insert(entry, for: origin, at: now) }
    }

    private mutating func insert(_ entry: Entry, for origin: HTTPSOrigin, at now: Int) {
        if entries[origin] == nil, entries.count >= Self.limit {
            entries = entries.filter { Self.isCurrent($0.value, at: now) }
            // Removes the entry that expires first.
            if entries.count >= Self.limit,
                let first = entries.min(by: { ($0.value.ends.max() ?? 0) < ($1.value.ends.max() ?? 0) })
            {
                entries[first.key] = nil
            }
        }
        entries[origin] = entry
    }

    private static func isCurrent(_ entry: Entry, at now: Int) -> Bool { entry.ends.contains { $0 > now } }

    /// Whether the origin has advertised HTTP/3 at the same host and port.
    func namesHTTP3(_ origin: HTTPSOrigin, at now: Int) -> Bool {
        guard let entry = entries[origin] else { return false }
        return zip(entry.services, entry.ends).contains { service, end in
            Self.isHTTP3(service, at: origin) && end > now
        }
    }

    /// Whether HTTP/3 is not tried at `origin` because it failed recently.
    func isBroken(_ origin: HTTPSOrigin, at now: Int) -> Bool {
        guard let failure = failures[origin] else { return false }
        // A clock that was set back must not extend the delay.
        return failure.start <= now && now < failure.end
    }

    /// Records that HTTP/3 could not be reached at `origin`.
    mutating func recordFailure(_ origin: HTTPSOrigin, at now: Int) {
        guard !isBroken(origin, at: now) else { return }
        if failures[origin] == nil, failures.count >= Self.limit,
            let first = failures.min(by: { $0.value.end < $1.value.end })
        {
            failures[first.key] = nil
        }
        var failure = failures[origin] ?? Failure()
        failure.count = min(failure.count + 1, 16)
        failure.start = now
        failure.end = now + min(Self.longestDelay, Self.firstDelay << (failure.count - 1))
        failures[origin] = failure
    }

    /// Records that HTTP/3 worked at `origin`.
    mutating func recordSuccess(_ origin: HTTPSOrigin) {
        if !failures.isEmpty { failures[origin] = nil }
    }
}

/// The format of curl's file, with one line for each alternative (https://curl.se/docs/alt-svc.html):
///
/// ```
/// h2 example.com 443 h3 example.com 443 "20301231 23:59:59" 0 0
/// ```
///
/// Each line has protocol, host and port of the origin and of the alternative; the expiry in UTC; whether the
/// alternative remains valid after a change of the network; and a priority, which is not used.
extension AlternativeTable {
    /// The maximum size of the file in bytes, for reading and for writing.
    static let fileLimit = 1 << 20
    /// The maximum length of a line in bytes, for reading and for writing.
    static let lineLimit = 1024

    /// The text of all entries that have not expired; if it exceeds ``fileLimit``, without those that expire
    /// first.
    func text(at now: Int) -> [UInt8] {
        let head = "# Alternative services (RFC 7838), see https://curl.se/docs/alt-svc.html\n"
        var parts = entries.map { origin, entry in
            (origin: origin, end: entry.ends.max() ?? 0, text: Self.lines(entry, of: origin, at: now))
        }
        var size = parts.reduce(head.utf8.count) { $0 + $1.text.utf8.count }
        if size > Self.fileLimit {
            parts.sort { $0.end > $1.end }
            while size > Self.fileLimit, let last = parts.popLast() { size -= last.text.utf8.count }
        }
        parts.sort { ($0.origin.host, $0.origin.port) < ($1.origin.host, $1.origin.port) }
        return parts.reduce(into: Array(head.utf8)) { $0 += $1.text.utf8 }
    }

    /// The lines of an origin, each with a line feed. ``read(_:)`` must understand them, and so must curl.
    private static func lines(_ entry: Entry, of origin: HTTPSOrigin, at now: Int) -> String {
        guard let source = curlName(entry.source) else { return "" }
        return zip(entry.services, entry.ends).reduce(into: "") { text, found in
            let (service, end) = found
            guard end > now, let name = curlName(service.protocolID) else { return }
            let advertiser = "\(source) \(written(origin.host)) \(origin.port)"
            let alternative = "\(name) \(written(service.host)) \(service.port)"
            let line = "\(advertiser) \(alternative) \"\(written(end))\" \(service.persists ? 1 : 0) 0"
            if line.utf8.count <= lineLimit { text += line + "\n" }
        }
    }

    /// Adds the entries of a file that expire in the future, within ``AlternativeService/longestAge``, up to the limits
    /// of origins and of services. Other lines are ignored.
    mutating func add(_ text: [UInt8], at now: Int) {
        var found: [HTTPSOrigin: Entry] = [:]
        for line in text.split(separator: UInt8(ascii: "\n")) {
            guard let (origin, source, service, end) = Self.read(line), end > now,
                end <= now + AlternativeService.longestAge
            else { continue }
            guard found[origin] != nil || found.count < Self.limit else { continue }
            var entry = found[origin] ?? Entry(source: source, services: [], ends: [], savedEnds: [])
            guard entry.services.count < AlternativeService.limit else { continue }
            var aged = service
            aged.maxAge = end - now
            entry.services.append(aged)
            entry.ends.append(end)
            entry.savedEnds.append(end)
            found[origin] = entry
        }
        for (origin, entry) in found { add(entry, for: origin, at: now) }
    }

    private static func read(
        _ line: ArraySlice<UInt8>
    ) -> (origin: HTTPSOrigin, source: String, service: AlternativeService, end: Int)? {
        guard line.count <= lineLimit, line.first != UInt8(ascii: "#") else { return nil }
        let words = line.split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
            .map { String(decoding: $0, as: UTF8.self) }
        guard words.count == 10, let source = protocolID(words[0]), let name = protocolID(words[3]),
            let origin = origin(words[1], words[2]), let other = self.origin(words[4], words[5]),
            let end = end(words[6], words[7])
        else { return nil }
        let service = AlternativeService(
            protocolID: name, host: other.host, port: other.port, persists: words[8] == "1")
        return (origin, source, service, end)
    }

    private static func origin(_ host: String, _ port: String) -> HTTPSOrigin? {
        guard let number = AlternativeServiceReader.number(port, atMost: 65_536), 1...65_535 ~= number else {
            return nil
        }
        var host = host.lowercased()
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        return host.isEmpty || host.contains("\"") ? nil : HTTPSOrigin(host: host, port: number)
    }

    /// Parses `"20301231` and `23:59:59"`.
    private static func end(_ day: String, _ time: String) -> Int? {
        let parts = time.split(separator: ":", omittingEmptySubsequences: false)
        guard day.utf8.count == 9, day.first == "\"", time.last == "\"", parts.count == 3 else { return nil }
        let digits = Substring(day.dropFirst())
        let numbers =
            [
                digits.prefix(4), digits.dropFirst(4).prefix(2), digits.suffix(2), parts[0], parts[1],
                parts[2].dropLast(),
            ]
            .compactMap {
                $0.utf8.count <= 4 ? AlternativeServiceReader.number(String($0), atMost: 9999) : nil
            }
        guard numbers.count == 6,
            let date = Date(
                year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3], minute: numbers[4],
                second: numbers[5])
        else { return nil }
        return Int(date.timeIntervalSince1970)
    }

    private static func written(_ end: Int) -> String {
        Date(timeIntervalSince1970: Double(end)).formatted(
            .iso8601.year().month().day().dateSeparator(.omitted).dateTimeSeparator(.space)
                .time(includingFractionalSeconds: false).timeSeparator(.colon))
    }

    private static func written(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }

    /// curl's name of a protocol that it knows; ``protocolID(_:)`` is the inverse.
    private static func curlName(_ protocolID: String) -> String? {
        switch protocolID {
        case "http/1.1": "h1"
        case "h2", "h3": protocolID
        default: nil
        }
    }

    private static func protocolID(_ curlName: String) -> String? {
        switch curlName {
        case "h1": "http/1.1"
        case "h2", "h3": curlName
        default: nil
        }
    }
}
