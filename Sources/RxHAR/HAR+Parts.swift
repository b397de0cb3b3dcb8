import FoundationEssentials
import RxHTTP

extension HAR.Timings {
    /// Computes the phases; each begins at the end of the previous one, so their sum is the total time.
    init(_ metrics: TransferMetrics) {
        let isNew = !metrics.isConnectionReused
        var reached = Duration.zero
        /// The duration until `mark`, which an early response may have overtaken.
        func phase(until mark: Duration) -> Double {
            let end = min(max(mark, reached), metrics.total)
            defer { reached = end }
            return (end - reached) / .milliseconds(1)
        }
        blocked = metrics.queued / .milliseconds(1)
        if isNew {
            dns = phase(until: metrics.resolved)
            connect = phase(until: max(metrics.connected, metrics.secured))
        }
        if isNew, metrics.secured > metrics.connected {
            ssl = min((metrics.secured - metrics.connected) / .milliseconds(1), connect)
        }
        send = phase(until: metrics.sent)
        wait = phase(until: metrics.firstByte)
        receive = phase(until: metrics.total)
    }

    /// Computes the phases of an exchange without metrics.
    init(from start: Duration, _ respondedAt: Duration?, to end: Duration) {
        send = 0
        wait = ((respondedAt ?? end) - start) / .milliseconds(1)
        receive = (end - (respondedAt ?? end)) / .milliseconds(1)
    }
}

extension HAR.Pair {
    /// The pairs of a query or a form, decoded.
    static func pairs(inForm text: Substring) -> [HAR.Pair] {
        text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return HAR.Pair(
                name: parts[0].decodedAsForm, value: parts.count > 1 ? parts[1].decodedAsForm : "")
        }
    }
}

extension HAR.Cookie {
    /// The cookies of a `Cookie` field.
    static func sent(in field: String) -> [HAR.Cookie] {
        field.split(separator: ";").map { HAR.Cookie(name: name(in: $0), value: Redaction.mark) }
    }

    /// Parses the cookie of a `Set-Cookie` field (RFC 6265 §5.2); `nil` for a cookie without a name.
    init?(set field: String) {
        let parts = field.split(separator: ";", omittingEmptySubsequences: false)
        guard let first = parts.first, first.contains("=") else { return nil }
        self.init(name: Self.name(in: first), value: Redaction.mark)
        guard !name.isEmpty else { return nil }
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = pair.count > 1 ? String(pair[1].trimmingBlanks()) : ""
            switch pair[0].trimmingBlanks().lowercased() {
            case "path": path = value
            case "domain": domain = value
            case "expires": expires = Date(httpDate: value)?.iso8601
            case "httponly": httpOnly = true
            case "secure": secure = true
            default: break
            }
        }
    }

    private static func name(in pair: Substring) -> String {
        String(pair.prefix { $0 != "=" }.trimmingBlanks())
    }
}
