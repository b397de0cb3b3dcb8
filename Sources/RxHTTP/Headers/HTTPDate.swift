public import FoundationEssentials

extension Date {
    /// The time of an HTTP date in one of the three forms of RFC 9110 §5.6.7; `nil` for any other text.
    ///
    /// ```
    /// Sun, 06 Nov 1994 08:49:37 GMT
    /// Sunday, 06-Nov-94 08:49:37 GMT
    /// Sun Nov  6 08:49:37 1994
    /// ```
    ///
    /// The weekday need not match the date. A two-digit year means the latest year with these digits that is
    /// at most 50 years ahead of `now`.
    ///
    /// - Parameters:
    ///   - text: the field value, without surrounding blanks.
    ///   - now: the reference for two-digit years. Default: the system time.
    ///   - ignoresCase: whether `GMT` and the names match in any case, as in caches (RFC 9111 §4.2). Default
    ///     false.
    public init?(httpDate text: String, now: Date = Date(), ignoresCase: Bool = false) {
        var reader = HTTPDateReader(text.utf8, ignoresCase: ignoresCase)
        guard let date = reader.date(now: now) else { return nil }
        self = date
    }

    /// A time in UTC; `nil` if the calendar has no such time. The second may be a leap second, 60.
    package init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        guard (0...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
            (0..<24).contains(hour), (0..<60).contains(minute), (0...60).contains(second)
        else { return nil }
        let days = Self.daysSince1970(year: year, month: month, day: day)
        let (nextYear, nextMonth) = month == 12 ? (year + 1, 1) : (year, month + 1)
        guard days < Self.daysSince1970(year: nextYear, month: nextMonth, day: 1) else { return nil }
        self.init(timeIntervalSince1970: Double(days * 86400 + hour * 3600 + minute * 60 + second))
    }

    /// Days in the Gregorian calendar, counted in years that begin in March, so that the leap day is last
    /// (E. G. Richards, "Calendars", in the Explanatory Supplement to the Astronomical Almanac, 2013).
    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let (shiftedYear, shiftedMonth) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
        let leapDays = shiftedYear / 4 - shiftedYear / 100 + shiftedYear / 400
        return 365 * shiftedYear + leapDays + (153 * shiftedMonth + 2) / 5 + day - 1 - 719_468
    }
}

/// Reads an HTTP date byte by byte, by the grammar of RFC 9110 §5.6.7.
struct HTTPDateReader {
    private typealias Clock = (hour: Int, minute: Int, second: Int)

    private var rest: Substring.UTF8View
    private let ignoresCase: Bool

    private static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let longDays = [
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
    ]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    /// Dates up to the year 1600 are taken for errors.
    private static let firstYear = 1601

    init(_ text: String.UTF8View, ignoresCase: Bool) {
        rest = text[...]
        self.ignoresCase = ignoresCase
    }

    mutating func date(now: Date) -> Date? {
        // Long names first, because each begins with a short one.
        if take(oneOf: Self.longDays) != nil { return obsoleteDate(now: now) }
        guard take(oneOf: Self.days) != nil else { return nil }
        return take(",") ? fixedDate() : asctimeDate()
    }

    /// `IMF-fixdate`, after the comma.
    private mutating func fixedDate() -> Date? {
        guard take(" "), let day = number(digits: 2), take(" "), let month = take(oneOf: Self.months),
            take(" "), let year = number(digits: 4), take(" "), let clock = clock(), take(" GMT"),
            rest.isEmpty
        else { return nil }
        return date(year, month + 1, day, clock)
    }

    /// `rfc850-date`, after the weekday.
    private mutating func obsoleteDate(now: Date) -> Date? {
        guard take(", "), let day = number(digits: 2), take("-"), let month = take(oneOf: Self.months),
            take("-"), let year = number(digits: 2), take(" "), let clock = clock(), take(" GMT"),
            rest.isEmpty
        else { return nil }
        let secondsInYear = 31_556_952.0
        let thisYear = 1970 + (now.timeIntervalSince1970 / secondsInYear).rounded(.down)
        guard (0...9000).contains(thisYear) else { return nil }
        let century = Int(thisYear) / 100 * 100
        let latest = now.addingTimeInterval(50 * secondsInYear)
        for century in [century + 100, century, century - 100] {
            if let date = date(century + year, month + 1, day, clock), date <= latest { return date }
        }
        return nil
    }

    /// `asctime-date`, after the weekday.
    private mutating func asctimeDate() -> Date? {
        guard take(" "), let month = take(oneOf: Self.months), take(" "),
            let day = take(" ") ? number(digits: 1) : number(digits: 2), take(" "), let clock = clock(),
            take(" "), let year = number(digits: 4), rest.isEmpty
        else { return nil }
        return date(year, month + 1, day, clock)
    }

    private mutating func clock() -> Clock? {
        guard let hour = number(digits: 2), take(":"), let minute = number(digits: 2), take(":"),
            let second = number(digits: 2)
        else { return nil }
        return (hour, minute, second)
    }

    private func date(_ year: Int, _ month: Int, _ day: Int, _ clock: Clock) -> Date? {
        guard year >= Self.firstYear else { return nil }
        return Date(
            year: year, month: month, day: day, hour: clock.hour, minute: clock.minute, second: clock.second)
    }

    // MARK: - Tokens

    private mutating func take(_ literal: String) -> Bool {
        let found = rest.prefix(literal.utf8.count)
        let isFound = found.elementsEqual(literal.utf8) { byte, wanted in
            byte == wanted || ignoresCase && byte.lowercased == wanted.lowercased
        }
        if isFound { rest = rest.dropFirst(literal.utf8.count) }
        return isFound
    }

    private mutating func take(oneOf names: [String]) -> Int? { names.firstIndex { take($0) } }

    /// Exactly `count` decimal digits.
    private mutating func number(digits count: Int) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int($1) - 0x30 }
    }
}

extension UInt8 {
    /// ASCII letters in lower case, all else unchanged.
    fileprivate var lowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}
