import FoundationEssentials

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

    // MARK: Dates

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
