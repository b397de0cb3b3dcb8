import FoundationEssentials
import HTTPTypes
import RawStructuredFieldValues
import RxHTTP

/// The number of requests that a server still allows, according to its responses.
struct RequestAllowance {
    /// The number left at the last response; `nil` for no limit.
    private var remaining: Int?
    /// The time of the next reset, if known.
    private var reset: Duration?
    /// The number allowed after the reset.
    private var quota: Int?
    /// The time until which no requests are allowed.
    private var pauseEnd = Duration.zero
    /// The number of requests whose responses have not begun.
    private var running = 0

    /// Whether there is a limit to remember.
    func isLimited(at now: Duration) -> Bool { now < pauseEnd || reset.map { now < $0 } ?? false }

    /// The time that a request must wait regardless of other responses.
    func certainWait(at now: Duration) -> Duration {
        if now < pauseEnd { return pauseEnd - now }
        if let reset, now < reset, remaining == 0 { return reset - now }
        return .zero
    }

    /// Admits a request, or returns how long it must wait unless a response changes that.
    mutating func enter(at now: Duration) -> Duration? {
        if now < pauseEnd { return pauseEnd - now }
        if let reset, now >= reset { (remaining, self.reset) = (quota, nil) }
        // After a reset the responses state the number left; until then the quota covers the requests in
        // flight.
        if let remaining, remaining <= running { return reset.map { $0 - now } ?? .seconds(1) }
        running += 1
        return nil
    }

    /// Records that a response has begun, or that there will be none.
    mutating func leave(_ head: ResponseHead?, at now: Duration, _ date: Date) {
        running = max(running - 1, 0)
        guard let head, let said = RateLimitFields(head, at: date) else {
            // The request counts at the server, too.
            if reset != nil { remaining = remaining.map { max($0 - 1, 0) } }
            return notePause(head, at: now, date)
        }
        remaining = said.remaining
        reset = now + said.reset
        quota = said.quota ?? quota
        notePause(head, at: now, date)
    }

    private mutating func notePause(_ head: ResponseHead?, at now: Duration, _ date: Date) {
        guard let head else { return }
        if head.status.code == 429 || head.status.code == 503 {
            var error = NetworkError(.status, "")
            error.head = head
            if let delay = error.retryAfter(now: date) { pauseEnd = max(pauseEnd, now + delay) }
        }
    }
}

/// The limits in a response for the next requests.
struct RateLimitFields: Equatable {
    var remaining: Int
    /// The time until the reset.
    var reset: Duration
    var quota: Int?

    init?(_ head: ResponseHead, at date: Date) {
        guard
            let said = Self.list(head) ?? Self.single(head, "RateLimit-", at: date)
                ?? Self.single(head, "X-RateLimit-", at: date)
                ?? Self.single(head, "X-Rate-Limit-", at: date)
        else { return nil }
        self = said
    }

    private init(remaining: Int64, seconds: Double, quota: Int64?) {
        self.remaining = Int(min(max(remaining, 0), 1 << 31))
        reset = .seconds(min(max(seconds, 0), Double(1 << 31)))
        self.quota = quota.map { Int(min(max($0, 1), 1 << 31)) }
    }

    /// Reads `"name";r=3;t=20`; the tightest limit counts, with the quota of the policy of that name.
    private static func list(_ head: ResponseHead) -> RateLimitFields? {
        var tightest: (name: String, said: RateLimitFields)?
        for item in items(head, "RateLimit") {
            guard case .string(let name) = item.rfc9651BareItem,
                let remaining = integer(item, "r"), let seconds = integer(item, "t")
            else { continue }
            let said = RateLimitFields(remaining: remaining, seconds: Double(seconds), quota: nil)
            if said.remaining < tightest?.said.remaining ?? .max { tightest = (name, said) }
        }
        guard let (name, tight) = tightest else { return nil }
        var said = tight
        let policy = items(head, "RateLimit-Policy").first {
            if case .string(name) = $0.rfc9651BareItem { true } else { false }
        }
        said.quota = policy.flatMap { integer($0, "q") }.map { Int(min(max($0, 1), 1 << 31)) }
        return said
    }

    private static func items(_ head: ResponseHead, _ name: String) -> [Item] {
        // The time to parse grows with the square of the members.
        guard let name = HTTPField.Name(name), let value = head[name], value.utf8.count <= 2048 else {
            return []
        }
        var parser = StructuredFieldValueParser(Array(value.utf8))
        let list = (try? parser.parseListFieldValue()) ?? []
        return list.compactMap { if case .item(let item) = $0 { item } else { nil } }
    }

    private static func integer(_ item: Item, _ key: String) -> Int64? {
        if case .integer(let number) = item.rfc9651Parameters[key] { number } else { nil }
    }

    /// Reads a separate field for each number. A reset of more than a year is a date in seconds since 1970,
    /// as some servers send it.
    private static func single(_ head: ResponseHead, _ prefix: String, at date: Date) -> RateLimitFields? {
        func number(_ name: String) -> Double? {
            guard let name = HTTPField.Name(prefix + name), let value = head[name],
                let number = Double(value.prefix { $0 != "," && $0 != ";" }), number.isFinite
            else { return nil }
            return number
        }
        guard let remaining = number("Remaining"), let reset = number("Reset") else { return nil }
        let seconds = reset > 86_400 * 365 ? reset - date.timeIntervalSince1970 : reset
        // A value of more than a year is not a number of seconds.
        guard seconds < 86_400 * 365 else { return nil }
        return RateLimitFields(
            remaining: Int64(min(max(remaining, 0), 1e9)), seconds: seconds,
            quota: number("Limit").map { Int64(min(max($0, 1), 1e9)) })
    }
}
