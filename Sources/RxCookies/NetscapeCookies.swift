import FoundationEssentials
import RxHTTP

/// Cookies in the text files that curl, wget and browser extensions read and write
/// (https://curl.se/docs/http-cookies.html): one line per cookie, with seven fields separated by tabs.
extension CookieJar {
    /// The cookies that have not expired, in this format. The format cannot represent the `SameSite`
    /// attribute and cookies with a tab in name or path; both are omitted.
    ///
    /// - Parameter includingSessionCookies: whether session cookies are included, with 0 as the expiry.
    ///   Default true.
    public func netscapeFile(includingSessionCookies: Bool = true) -> String {
        let lines = cookies.filter { includingSessionCookies || !$0.isSession }.compactMap(\.netscapeLine)
        // Some readers, such as Python's, accept no file without this first line.
        return (["# Netscape HTTP Cookie File"] + lines).joined(separator: "\n") + "\n"
    }

    /// Adds the cookies of such a file and replaces cookies with the same name, domain and path. Comments,
    /// lines that are not cookies, expired cookies, and cookies that no server could have set are skipped.
    ///
    /// - Returns: the cookies that were added.
    @discardableResult
    public func restore(fromNetscape text: String) -> [Cookie] {
        let now = clock.date
        let latest = now.addingTimeInterval(emptyTable.lifetime)
        // Bytes, because a String treats CR LF as one character.
        let lines = text.utf8.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        // Each cookie has a distinct time of creation, which keeps the order of the file.
        let cookies = lines.enumerated().compactMap { index, line in
            Cookie(
                netscape: Substring(line), created: now.addingTimeInterval(1e-6 * Double(index)),
                latest: latest)
        }
        return restore(cookies, at: now)
    }

    /// Sets a cookie and replaces the one with the same name, domain and path. An expired cookie removes that
    /// one.
    ///
    /// ```swift
    /// try jar.set(Cookie(name: "theme", value: "dark", domain: "shop.example.com"))
    /// ```
    ///
    /// - Throws: `unsound` for a cookie that no server could have set.
    public func set(_ cookie: Cookie) throws(CookieRefusal) {
        let now = clock.date
        var cookie = cookie
        (cookie.created, cookie.lastUsed) = (now, now)
        guard emptyTable.isSound(cookie) else { throw .unsound }
        if cookie.isExpired(at: now) {
            remove(cookie)
        } else {
            restore([cookie], at: now)
        }
    }
}

extension Cookie {
    private static let httpOnlyMark = "#HttpOnly_"

    fileprivate var netscapeLine: String? {
        let fields = [
            (isHTTPOnly ? Self.httpOnlyMark : "") + (isHostOnly ? "" : ".") + domain,
            isHostOnly ? "FALSE" : "TRUE",
            path, isSecure ? "TRUE" : "FALSE",
            expires.map { String(Int64($0.timeIntervalSince1970.clamped)) } ?? "0",
            name,
        ]
        guard !fields.contains(where: { $0.utf8.contains(UInt8(ascii: "\t")) }) else { return nil }
        return (fields + [value]).joined(separator: "\t")
    }

    /// - Parameter latest: the maximum expiry.
    fileprivate init?(netscape line: Substring, created: Date, latest: Date) {
        let isHTTPOnly = line.utf8.starts(with: Self.httpOnlyMark.utf8)
        guard isHTTPOnly || line.utf8.first != UInt8(ascii: "#") else { return nil }
        let fields = line.utf8.dropFirst(isHTTPOnly ? Self.httpOnlyMark.utf8.count : 0)
            .split(separator: UInt8(ascii: "\t"), maxSplits: 6, omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard fields.count == 7, let end = Double(fields[4]), end.isFinite else { return nil }
        let expires = end == 0 ? nil : min(Date(timeIntervalSince1970: end), latest)
        self.init(
            name: fields[5], value: fields[6], domain: fields[0],
            isHostOnly: fields[1].uppercased() != "TRUE",
            path: fields[2], expires: expires, isSecure: fields[3].uppercased() == "TRUE",
            isHTTPOnly: isHTTPOnly, sameSite: nil, created: created)
    }
}

extension TimeInterval {
    /// Limited to the range of a 64-bit integer and rounded up, so that an expiry does not become 0, which
    /// means none.
    fileprivate var clamped: TimeInterval { min(max(rounded(.up), 1), 1e18) }
}
