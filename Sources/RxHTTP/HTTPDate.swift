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
