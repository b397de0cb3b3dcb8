public import FoundationEssentials

extension Date {
    /// The time that an HTTP date names, in one of the three forms of RFC 9110 §5.6.7; `nil` for everything else.
    ///
    /// ```
    /// Sun, 06 Nov 1994 08:49:37 GMT
    /// Sunday, 06-Nov-94 08:49:37 GMT
    /// Sun Nov  6 08:49:37 1994
    /// ```
    ///
    /// The name of the day need not be that of the date. A two-digit year means the latest year with these digits that
    /// is at most 50 years ahead of `now`.
    ///
    /// - Parameters:
    ///   - text: the field value, without blanks around it.
    ///   - now: the time that two digits of a year are read against. Default: the system's.
    ///   - ignoresCase: whether `GMT` and the names may be in any case, as caches read them (RFC 9111 §4.2). Default
    ///     false: the case matters.
    public init?(httpDate text: String, now: Date = Date(), ignoresCase: Bool = false) {
        var reader = HTTPDateReader(text.utf8, ignoresCase: ignoresCase)
        guard let date = reader.date(now: now) else { return nil }
        self = date
    }

    /// A time in UTC; `nil` for one that is not in the calendar. The second may be a leap second, 60.
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
