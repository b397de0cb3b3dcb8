package import FoundationEssentials
import HTTPTypes

/// The value of a `Strict-Transport-Security` field (RFC 6797 §6.1).
struct HSTSPolicy: Equatable {
    /// The number of seconds to reach the host over TLS only; 0 forgets the host.
    let maxAge: Int
    /// Whether the policy applies to all subdomains.
    let includesSubdomains: Bool

    /// 68 years; a larger `max-age` counts as this.
    static let longestAge = Int(Int32.max)

    /// Parses a field value; `nil` without `max-age`, with a repeated directive, or with any other violation
    /// of the grammar. Unknown directives are skipped.
    init?(_ value: String) {
        var reader = DirectiveReader(value)
        var names: Set<String> = []
        var age: Int?
        var includesSubdomains = false
        repeat {
            reader.skipBlanks()
            let name = reader.token().lowercased()
            guard !name.isEmpty else { continue }
            guard names.insert(name).inserted else { return nil }
            reader.skipBlanks()
            var argument: String?
            if reader.skip(UInt8(ascii: "=")) {
                reader.skipBlanks()
                argument = reader.word()
                guard argument != nil else { return nil }
            }
            switch name {
            case "max-age":
                age = argument.flatMap(Self.seconds)
                guard age != nil else { return nil }
            case "includesubdomains":
                guard argument == nil else { return nil }
                includesSubdomains = true
            default: break
            }
        } while reader.skipSemicolon()
        guard reader.isAtEnd, let age else { return nil }
        self.maxAge = age
        self.includesSubdomains = includesSubdomains
    }

    /// A whole number, where a greater one than ``longestAge`` counts as that; `nil` for any other text.
    private static func seconds(_ text: String) -> Int? {
        guard !text.isEmpty else { return nil }
        var seconds = 0
        for byte in text.utf8 {
            guard case 0...9 = byte &- UInt8(ascii: "0") else { return nil }
            seconds = min(seconds * 10 + Int(byte - UInt8(ascii: "0")), longestAge)
        }
        return seconds
    }
}

/// Reads tokens and quoted strings (RFC 9110 §5.6) in one pass.
private struct DirectiveReader {
    private var rest: ArraySlice<UInt8>

    init(_ text: String) { rest = Array(text.utf8)[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skipBlanks() {
        while rest.first == UInt8(ascii: " ") || rest.first == UInt8(ascii: "\t") { rest.removeFirst() }
    }

    mutating func skip(_ byte: UInt8) -> Bool {
        guard rest.first == byte else { return false }
        rest.removeFirst()
        return true
    }

    mutating func skipSemicolon() -> Bool {
        skipBlanks()
        return skip(UInt8(ascii: ";"))
    }

    /// The next token; empty if there is none.
    mutating func token() -> String {
        let token = rest.prefix(while: Self.isTokenByte)
        rest = rest.dropFirst(token.count)
        return String(decoding: token, as: UTF8.self)
    }

    /// The next token or quoted string; `nil` if there is neither.
    mutating func word() -> String? {
        guard skip(UInt8(ascii: "\"")) else {
            let token = token()
            return token.isEmpty ? nil : token
        }
        var text: [UInt8] = []
        while var byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
            if byte == UInt8(ascii: "\\") {
                guard let escaped = rest.popFirst() else { return nil }
                byte = escaped
            }
            text.append(byte)
        }
        return nil
    }

    /// A `tchar` of RFC 9110 §5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte | 0x20 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): true
        default: "0123456789!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

/// The hosts to reach over TLS only, as pure rules (RFC 6797 §8): no files, threads or clock.
struct HSTSHosts {
    struct Entry: Equatable {
        var includesSubdomains: Bool
        var expires: Date
        /// ``expires`` as last saved.
        var savedExpires: Date
    }

    private(set) var entries: [String: Entry] = [:]
    /// The most hosts, as the documentation of ``HSTSStore`` says; beyond them the one that expires first is removed.
    static let limit = 10_000

    /// Records the policy that a host sent.
    ///
    /// - Returns: whether to save. A server repeats its policy in each response, so a new expiry is saved
    ///   only if it differs by at least a hundredth of `max-age`.
    mutating func record(_ policy: HSTSPolicy, of host: String, at now: Date) -> Bool {
        guard policy.maxAge > 0 else { return entries.removeValue(forKey: host) != nil }
        let age = TimeInterval(policy.maxAge)
        var entry = Entry(
            includesSubdomains: policy.includesSubdomains, expires: now + age, savedExpires: now + age)
        let known = entries[host]
        let isSame =
            known.map { known in
                known.includesSubdomains == entry.includesSubdomains
                    && abs(known.savedExpires.timeIntervalSince(entry.expires)) < age / 100
            } ?? false
        if isSame, let known { entry.savedExpires = known.savedExpires }
        insert(entry, for: host)
        return !isSame
    }

    /// Adds a saved host, unless a newer entry exists.
    mutating func restore(_ entry: Entry, for host: String) {
        if entries[host] == nil { insert(entry, for: host) }
    }

    private mutating func insert(_ entry: Entry, for host: String) {
        if entries[host] == nil, entries.count >= Self.limit,
            let first = entries.min(by: { $0.value.expires < $1.value.expires })
        {
            entries[first.key] = nil
        }
        entries[host] = entry
    }

    /// Whether the host has an entry, or a parent domain has one that includes subdomains (§8.2).
    func covers(_ host: String, at now: Date) -> Bool {
        guard !entries.isEmpty else { return false }
        if let entry = entries[host], entry.expires > now { return true }
        var domain = host[...]
        while let dot = domain.firstIndex(of: ".") {
            domain = domain[domain.index(after: dot)...]
            if let entry = entries[String(domain)], entry.includesSubdomains, entry.expires > now {
                return true
            }
        }
        return false
    }

    /// The canonical form of a host: lowercase, without a trailing dot; `nil` for an IP address (§8.1.1), and
    /// for text that cannot be a DNS name.
    static func name(_ host: String) -> String? {
        var name = host.lowercased()[...]
        if name.utf8.last == UInt8(ascii: ".") { name = name.dropLast() }
        let isName =
            !name.isEmpty && name.utf8.count <= 253
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
                default: byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
                }
            }
        guard isName, let last = name.split(separator: ".").last else { return nil }
        // 127.0.0.1, 127.1, 2130706433, 0x7f.0x1: no top-level domain begins with a digit.
        return UInt8(ascii: "0")...UInt8(ascii: "9") ~= last.utf8.first! ? nil : String(name)
    }
}

extension Request {
    /// The request with an https URL, if its URL is http and `store` requires TLS for the host; otherwise
    /// `nil`.
    package func upgraded(by store: HSTSStore, at now: Date) -> Request? {
        guard let url = store.upgrade(url, at: now) else { return nil }
        var request = self
        request.url = url
        return request
    }
}

extension ResponseHead {
    /// The head that represents a redirect to https before the request is sent, as browsers show it. No server can send
    /// it, because heads from a transport have a version.
    package static let upgrade = ResponseHead(
        status: .temporaryRedirect, headerFields: [.nonAuthoritativeReason: "HSTS"])

    /// Whether the head is ``upgrade``.
    var isUpgrade: Bool {
        httpVersion == nil && status == .temporaryRedirect && fieldLines == Self.upgrade.fieldLines
    }
}

extension HTTPField.Name {
    fileprivate static let nonAuthoritativeReason = HTTPField.Name("Non-Authoritative-Reason")!
}
