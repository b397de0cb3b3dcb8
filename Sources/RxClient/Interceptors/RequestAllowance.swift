import FoundationEssentials
import HTTPTypes
import RawStructuredFieldValues
import RxHTTP

/// How many requests a server allows until when, as its responses have it.
struct RequestAllowance {
    /// As of the last response; `nil` for any number.
    private var remaining: Int?
    /// When there are more again, if that is known.
    private var reset: Duration?
    /// How many there are then.
    private var quota: Int?
    /// Before that there are none.
    private var pauseEnd = Duration.zero
    /// Those whose responses have not begun.
    private var running = 0

    /// Whether there is something to be remembered.
    func isLimited(at now: Duration) -> Bool { now < pauseEnd || reset.map { now < $0 } ?? false }

    /// How long a request has to wait whatever other responses say.
    func certainWait(at now: Duration) -> Duration {
        if now < pauseEnd { return pauseEnd - now }
        if let reset, now < reset, remaining == 0 { return reset - now }
        return .zero
    }

    /// Lets a request go; or says for how long it has to wait, if no response changes that.
    mutating func enter(at now: Duration) -> Duration? {
        if now < pauseEnd { return pauseEnd - now }
        if let reset, now >= reset { (remaining, self.reset) = (quota, nil) }
        // After a reset the responses say how many there are; until then the quota is for those under way.
        if let remaining, remaining <= running { return reset.map { $0 - now } ?? .seconds(1) }
        running += 1
        return nil
    }

    /// A response has begun, or there will be none.
    mutating func leave(_ head: ResponseHead?, at now: Duration, _ date: Date) {
        running = max(running - 1, 0)
        guard let head, let said = RateLimitFields(head, at: date) else {
            // It counts at the server, too.
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

/// What a response says about the next requests.
struct RateLimitFields: Equatable {
    var remaining: Int
    /// In how long there are more.
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

    /// `"name";r=3;t=20`, of which the tightest counts; with the quota of the policy of that name.
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
        // Parsing takes time by the square of the members.
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

    /// A field for each number. A reset that is larger than a year is a date in seconds since 1970, as some servers have
    /// it.
    private static func single(_ head: ResponseHead, _ prefix: String, at date: Date) -> RateLimitFields? {
        func number(_ name: String) -> Double? {
            guard let name = HTTPField.Name(prefix + name), let value = head[name],
                let number = Double(value.prefix { $0 != "," && $0 != ";" }), number.isFinite
            else { return nil }
            return number
        }
        guard let remaining = number("Remaining"), let reset = number("Reset") else { return nil }
        let seconds = reset > 86_400 * 365 ? reset - date.timeIntervalSince1970 : reset
        // What is years ahead is no time in seconds.
        guard seconds < 86_400 * 365 else { return nil }
        return RateLimitFields(
            remaining: Int64(min(max(remaining, 0), 1e9)), seconds: seconds,
            quota: number("Limit").map { Int64(min(max($0, 1), 1e9)) })
    }
}
